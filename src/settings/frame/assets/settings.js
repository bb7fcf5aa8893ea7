/* The pages work without this script. It adds copy buttons, confirmation in a dialog, and removal of keys
   from pages that the browser keeps. */

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

// Removes keys when a page is left, because browsers keep pages for going back.
addEventListener('pagehide', () => {
  for (const secret of document.querySelectorAll('[data-secret]')) secret.remove();
});

prepare(document);

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
