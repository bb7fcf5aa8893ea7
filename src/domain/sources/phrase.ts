/** Text for people in which names are set apart, because they are not ours and can contain anything. */
export type Phrase = readonly (string | { readonly name: string })[];

/** phrase`SPF passes for ${domain}.`: what is filled in is a name. */
export function phrase(texts: TemplateStringsArray, ...names: readonly string[]): Phrase {
  const parts = texts.flatMap((text, i) => {
    const name = names[i];
    return name === undefined ? [text] : [text, { name }];
  });
  return parts.filter((part) => part !== '');
}
