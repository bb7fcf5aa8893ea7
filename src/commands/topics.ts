import { readFileSync } from 'node:fs';
import { Failure } from '../domain/failure.ts';

/** What operators read. The package contains them. */
const GUIDES = ['operate.md', 'operate/mail.md', 'operate/scale.md', 'manual.md'].map(
  (name) => new URL(`../../docs/${name}`, import.meta.url),
);

type Topics = ReadonlyMap<string, string>;

/** Text, by the words of its heading: `start-it-with-systemd`. */
function readTopics(before: RegExp): Topics {
  const sections = GUIDES.flatMap((guide) => readFileSync(guide, 'utf8').split(before).slice(1));
  return new Map(sections.map((text) => [toWords(/^#+ (.*)/.exec(text)?.[1] ?? ''), text]));
}

const toWords = (text: string) => text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/**
 * The names of all topics, a line for each, and below each those of its parts, indented; or the text of the one that has this
 * name, or whose name has this word, or else of such a part of a topic. A word that only texts have: the text that has it, or
 * a list of those that do. Throws `not_found`.
 */
export function renderTopic(asked: string): string {
  const topics = readTopics(/^(?=## )/m);
  const word = toWords(asked);
  if (word === 'topics') return listTopics();
  const parts = readTopics(/^(?=###? )/m);
  const text =
    topics.get(word) ?? parts.get(word) ?? findNamed(topics, word) ?? findNamed(parts, word);
  return text ?? renderFound(asked, parts, topics);
}

function listTopics(): string {
  const headings = GUIDES.flatMap((guide) => [
    ...readFileSync(guide, 'utf8').matchAll(/^##(#?) (.*)\n/gm),
  ]);
  return headings
    .map(([, part, words = '']) => `${part === '' ? '' : '  '}${toWords(words)}\n`)
    .join('');
}

/** The only topic whose name has the word. */
function findNamed(topics: Topics, word: string): string | undefined {
  const [first, second] = [...topics].filter(([name]) => name.split('-').includes(word));
  return second === undefined ? first?.[1] : undefined;
}

/** The part that has the word, or of several their names, those with it in the name or most often first, and a place of it. */
function renderFound(asked: string, parts: Topics, topics: Topics): string {
  const word = new RegExp(`(?<![\\p{L}\\d])${RegExp.escape(asked)}(?![\\p{L}\\d])`, 'giu');
  const place = new RegExp(`\\S*.{0,40}${word.source}.{0,60}\\S*`, 'iu');
  const found = [...parts].flatMap(([name, text]) => {
    const mentions = text.match(word)?.length ?? 0;
    const inName = name.split('-').includes(toWords(asked)) ? 1_000 : 0;
    const shown = `plumbline help ${name}\n    ${place.exec(text)?.[0].trim()}\n`;
    return mentions > 0 ? [{ name, text, shown, rank: mentions + inName }] : [];
  });
  const [first, second] = found.sort((a, b) => b.rank - a.rank);
  if (first === undefined)
    throw new Failure(
      'not_found',
      `“${asked}” is no command, and no word of a topic. The topics (plumbline help topics): ${[...topics.keys()].join(', ')}.`,
    );
  if (second === undefined) return topics.get(first.name) ?? first.text;
  return found.map(({ shown }) => shown).join('');
}
