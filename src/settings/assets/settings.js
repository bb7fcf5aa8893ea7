/* The pages work without this. With it: copy buttons, questions in a dialog, and no key left behind. */

document.addEventListener('click', (event) => {
  const button = event.target.closest('[data-copy]');
  if (button) void copy(button);
  const close = event.target.closest('dialog [data-close]');
  if (!close) return;
  event.preventDefault();
  close.closest('dialog').close();
});

// htmx has put in a new part: `load` comes for each of them.
document.addEventListener('htmx:load', (event) => prepare(event.target));
document.addEventListener('htmx:afterSwap', ({ target }) => {
  if (target.id === 'dialog') target.showModal();
});

// A page that the browser keeps to go back to must not keep a key.
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

/** Over plain HTTP, except on the machine itself, browsers offer the older way only. */
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
