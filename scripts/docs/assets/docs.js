/* Samples use the address that the page was served from. As they are written, they have a sandbox's address. */
const SANDBOX_URL = 'http://127.0.0.1:8080';
for (const code of document.querySelectorAll('figure.code code')) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    text.data = text.data.replaceAll(SANDBOX_URL, location.origin);
  }
}

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
