import { readFileSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';

/** What operators read. The package contains them. */
const GUIDES = ['operate.md', 'manual.md'].map(
  (name) => new URL(`../../docs/${name}`, import.meta.url),
);

/** Text, by the words of its heading: `start-it-with-systemd`. */
function readTopics(before: RegExp): ReadonlyMap<string, string> {
  const sections = GUIDES.flatMap((guide) => readFileSync(guide, 'utf8').split(before).slice(1));
  return new Map(sections.map((text) => [toWords(/^#+ (.*)/.exec(text)?.[1] ?? ''), text]));
}

const toWords = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/**
 * The names of all topics, a line for each; or the text of the one that has this name, or whose name has this word, or else
 * of such a part of a topic. Throws `not_found`.
 */
export function renderTopic(asked: string): string {
  const topics = readTopics(/^(?=## )/m);
  const word = toWords(asked);
  if (word === 'topics') return `${[...topics.keys()].join('\n')}\n`;
  const parts = readTopics(/^(?=###? )/m);
  const text = topics.get(word) ?? parts.get(word);
  if (text !== undefined) return text;
  const inTopics = findAll(topics, word);
  const found = inTopics.length > 0 ? inTopics : findAll(parts, word);
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first[1];
  const what =
    first === undefined
      ? `is no command and no topic. The topics (plumbline help topics): ${[...topics.keys()].join(', ')}`
      : `is a word of several topics: ${found.map(([name]) => name).join(', ')}`;
  throw new Failure('not_found', `“${asked}” ${what}.`);
}

const findAll = (topics: ReadonlyMap<string, string>, word: string) =>
  [...topics].filter(([name]) => name.split('-').includes(word));
