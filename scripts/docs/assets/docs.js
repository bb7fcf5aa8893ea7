/* Copies a sample. Without a script the button is not there. */
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
  // Browsers let a page copy only when it came over TLS, or from this very machine.
  if (navigator.clipboard) figure.append(button);
}
