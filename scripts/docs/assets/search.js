/* The search over guides and reference. Its index is loaded when the reader goes to the field. */
import MiniSearch from 'minisearch';

const MOST = 20;
/** How many characters of a text are shown, and how many of them are before the first word that was found. */
const SHOWN = 140;
const BEFORE = 40;

const box = document.querySelector('search');
const field = box.querySelector('input');
const status = box.querySelector('[role="status"]');
const list = box.querySelector('ol');
let loading;

box.hidden = false;
field.addEventListener('focus', show);
field.addEventListener('input', show);
box.addEventListener('keydown', move);
box.addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget !== null && !box.contains(relatedTarget)) close();
});
addEventListener('pointerdown', ({ target }) => {
  if (!box.contains(target)) close();
});
addEventListener('keydown', (event) => {
  const isTyping = event.target.closest?.('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  field.focus();
});

/** The index, once; after a failure it is loaded again with the next key. */
async function load() {
  loading ??= fetch(box.dataset.index)
    .then((answer) => answer.json())
    .then(toIndex);
  try {
    return await loading;
  } catch {
    loading = undefined;
    return undefined;
  }
}

function toIndex(entries) {
  const index = new MiniSearch({
    idField: 'id',
    fields: ['name', 'text', 'page'],
    storeFields: ['at', 'name', 'page', 'text'],
    searchOptions: {
      boost: { name: 4, page: 2 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    },
  });
  index.addAll(entries.map((entry, id) => ({ id, ...entry })));
  return index;
}

async function show() {
  const words = field.value.trim();
  const index = await load();
  if (words !== field.value.trim()) return;
  if (words === '') return close();
  if (index === undefined) return tell('The search is not available.');
  const all = index.search(words, { combineWith: 'AND' });
  const found = all.length > 0 ? all : index.search(words);
  list.replaceChildren(...found.slice(0, MOST).map(toItem));
  list.hidden = found.length === 0;
  tell(found.length === 1 ? '1 result' : `${found.length || 'No'} results`);
}

function toItem({ at, name, page, text, terms }) {
  const link = document.createElement('a');
  link.href = box.dataset.root + at;
  link.append(toElement('strong', name), toElement('small', page));
  link.append(toElement('span', ...mark(text, terms)));
  return toElement('li', link);
}

/** The text around the first word that was found, with the words that were found marked. */
function mark(text, terms) {
  const escaped = terms.map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  const pattern = new RegExp(`(${escaped.join('|')})`, 'gi');
  const start = Math.max(text.search(pattern) - BEFORE, 0);
  const from = start === 0 ? 0 : text.indexOf(' ', start) + 1;
  const rest = text.slice(from);
  const shown = rest.length > SHOWN ? `${rest.slice(0, rest.lastIndexOf(' ', SHOWN))} …` : rest;
  const parts = shown.split(pattern);
  return parts.map((part, i) => (i % 2 === 1 ? toElement('mark', part) : part));
}

function toElement(name, ...content) {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}

function tell(words) {
  status.textContent = words;
  // An answer without results is seen; the number of results is for those who do not see them.
  status.classList.toggle('unseen', words === '' || !list.hidden);
}

function close() {
  list.hidden = true;
  tell('');
}

/** Arrows go through the results, Enter opens the first, Escape goes back to the field and then empties it. */
function move(event) {
  const places = [field, ...list.querySelectorAll('a')];
  const place = places.indexOf(document.activeElement);
  const next = { ArrowDown: place + 1, ArrowUp: place - 1, Escape: 0 }[event.key];
  if (event.key === 'Enter' && place === 0) places[1]?.click();
  if (event.key === 'Escape' && place === 0) {
    field.value = '';
    close();
  }
  if (next === undefined || list.hidden) return;
  event.preventDefault();
  places[Math.min(Math.max(next, 0), places.length - 1)].focus();
}
