/** Text for people. Names are separate parts, because they come from reports and DNS and can contain anything. */
export type Phrase = readonly (string | { readonly name: string })[];

/** Makes a phrase, in which every inserted value is a name: phrase`SPF passes for ${domain}.` */
export function phrase(texts: TemplateStringsArray, ...names: readonly string[]): Phrase {
  const parts = texts.flatMap((text, i) => {
    const name = names[i];
    return name === undefined ? [text] : [text, { name }];
  });
  return parts.filter((part) => part !== '');
}
