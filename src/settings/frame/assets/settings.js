/* The pages work without this script. It adds copy buttons, confirmation in a dialog, removal of keys from pages
   that the browser keeps, arrow keys in charts, and the progress of an upload. */

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button) void copy(button);
  const close = event.target.closest('dialog [data-close]');
  if (!close) return;
  event.preventDefault();
  close.closest('dialog').close();
});

// htmx fires `load` for each part that it has added.
document.addEventListener('htmx:load', (event) => prepare(event.target));
document.addEventListener('htmx:afterSwap', ({ target }) => {
  if (target.id === 'dialog') target.showModal();
});

// An answer without the part that was asked for would empty the page: a proxy's own page, or a refusal.
document.addEventListener('htmx:beforeSwap', ({ detail }) => {
  const { elt } = detail.requestConfig;
  // The session has ended: the sign-in page is a page of its own, and the server keeps what was typed.
  if (detail.xhr.status === 401) {
    detail.shouldSwap = false;
    if (elt.matches('form')) elt.submit();
    else location.assign(elt.href);
    return;
  }
  const answer = new DOMParser().parseFromString(detail.serverResponse, 'text/html');
  if (answer.querySelector(elt.getAttribute('hx-select'))) return;
  detail.shouldSwap = false;
  const refusal = answer.querySelector('.refusal p')?.textContent;
  const none = `No usable answer came back (${detail.xhr.status}). ${UNKNOWN}`;
  announce(refusal ?? none);
});
document.addEventListener('htmx:sendError', () =>
  announce(`The service cannot be reached. ${UNKNOWN}`),
);
const UNKNOWN = 'Try again in a moment; load the page again to see what was done.';

// Removes keys when a page is left, because browsers keep pages for going back.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.remove();
});

prepare(document);
giveBack();
// On a phone the menu is one line, which scrolls.
document
  .querySelector('nav [aria-current=page]')
  ?.scrollIntoView({ block: 'nearest', inline: 'center' });

/** What was typed in a form whose session had ended. */
function giveBack() {
  const note = document.querySelector('[data-typed]');
  for (const [name, text] of Object.entries(JSON.parse(note?.dataset.typed ?? '{}'))) {
    const field = document.querySelector(
      `main form[method=post] [name="${name}"]:not([type=hidden])`,
    );
    if (!field) continue;
    field.value = text;
    // The form may be behind its button.
    field.closest('details')?.setAttribute('open', '');
  }
}

/** How far a key goes from a column of a chart; from no column, it goes to the last one. */
const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

document.addEventListener('keydown', (event) => {
  const chart = event.target.closest?.('[data-chart]');
  if (!chart || event.altKey || event.ctrlKey || event.metaKey) return;
  if (event.key in STEPS) {
    event.preventDefault();
    pointAt(chart, STEPS[event.key]);
  } else if (event.key === 'Escape') leave(chart);
});
document.addEventListener('focusout', ({ target }) => {
  if (target.matches?.('[data-chart]')) leave(target);
});

function pointAt(chart, step) {
  const columns = [...chart.querySelectorAll('.column')];
  const known = columns.findIndex((column) => column.matches('.current'));
  const from = known === -1 ? columns.length - 1 : known + step;
  leave(chart);
  const column = columns[Math.max(0, Math.min(columns.length - 1, from))];
  column.classList.add('current');
  chart.nextElementSibling.textContent = column.textContent;
}

function leave(chart) {
  chart.querySelector('.current')?.classList.remove('current');
}

function prepare(part) {
  part.querySelector('#key')?.select();
}

async function copy(button) {
  const field = document.getElementById(button.dataset.copy);
  field.select();
  const isCopied = await write(field.value);
  button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C';
  announce(isCopied ? 'Copied to the clipboard.' : 'Selected: press Ctrl+C to copy.');
}

/**
 * The new clipboard API needs HTTPS or the local machine; browsers offer only the older one over plain HTTP.
 */
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return document.execCommand('copy');
  }
}

function announce(text) {
  const line = document.createElement('p');
  line.textContent = text;
  document.getElementById('notice').replaceChildren(line);
}

for (const form of document.querySelectorAll('form[data-upload]')) {
  const place = form.closest('section');
  place.addEventListener('dragover', (event) => event.preventDefault());
  place.addEventListener('drop', (event) => {
    event.preventDefault();
    form.elements.files.files = event.dataTransfer.files;
    form.requestSubmit();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    upload(form);
  });
}

function upload(form) {
  const bar = form.querySelector('progress');
  const button = form.querySelector('button');
  const request = new XMLHttpRequest();
  const end = (text) => {
    bar.hidden = true;
    button.disabled = false;
    if (text) announce(text);
  };
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = loaded / total;
  });
  request.addEventListener('error', () => end(`The service cannot be reached. ${UNKNOWN}`));
  request.addEventListener('load', () => {
    const { status, response, responseURL } = request;
    if (status >= 400) return end(response?.querySelector('.refusal p')?.textContent ?? UNKNOWN);
    end();
    location.assign(responseURL);
  });
  request.open('POST', form.action);
  request.responseType = 'document';
  const files = new FormData(form);
  [bar.value, bar.hidden, button.disabled] = [0, false, true];
  request.send(files);
}
