import './search.js';

/* The page's own entry of a long menu is in sight. */
const menu = document.querySelector('body > nav');
const own = menu.querySelector('[aria-current]');
if (own) menu.scrollTop = own.offsetTop - menu.clientHeight / 2;

/* Adds a copy button to each sample, so that there is none without JavaScript. */
for (const figure of document.querySelectorAll('figure.program')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(figure.querySelector('code').innerText);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2000);
  });
  // Browsers allow copying only over TLS or from the local machine.
  if (navigator.clipboard) figure.querySelector('figcaption').append(button);
}
