import { readFileSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';

/** What operators read. The package contains them. */
const GUIDES = ['operate.md', 'manual.md'].map(
  (name) => new URL(`../../docs/${name}`, import.meta.url),
);

/** Text, by the words of its heading: `start-it-with-systemd`. */
function readTopics(): ReadonlyMap<string, string> {
  const sections = GUIDES.flatMap((guide) =>
    readFileSync(guide, 'utf8')
      .split(/^(?=## )/m)
      .slice(1),
  );
  return new Map(sections.map((text) => [toName(text), text]));
}

function toName(section: string): string {
  const [heading = ''] = section.split('\n', 1);
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
}

/** The names of all topics, a line for each; or the text of the one whose name has this word. Throws `not_found`. */
export function renderTopic(word: string): string {
  const topics = readTopics();
  if (word === 'topics') return `${[...topics.keys()].join('\n')}\n`;
  const text = topics.get(word) ?? findOnly(topics, word);
  if (text !== undefined) return text;
  throw new Failure(
    'not_found',
    `There is no command and no topic “${word}”. “plumbline help topics” lists the topics.`,
  );
}

function findOnly(topics: ReadonlyMap<string, string>, word: string): string | undefined {
  const found = topics.entries().filter(([name]) => name.split('-').includes(word));
  const [first, second] = [...found];
  return second === undefined ? first?.[1] : undefined;
}
