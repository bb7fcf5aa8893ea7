/** The parts of the contract that the site looks into. */
export interface Contract {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

export interface Operation {
  readonly tags: readonly string[];
  readonly operationId: string;
}

interface CodeSample {
  readonly lang: string;
  readonly source: string;
}

/**
 * The contract as Redoc draws it: served from where the reader is (it cannot fill in a server's variables), and
 * with a line to paste for each operation. The variables are those that the guides have the reader set.
 */
export function toDrawn<C extends Contract>(contract: C) {
  const paths = Object.entries(contract.paths).map(([path, item]) => [
    path,
    Object.fromEntries(
      Object.entries(item).map(([method, operation]) => [
        method,
        { ...operation, 'x-codeSamples': toCodeSamples(path) },
      ]),
    ),
  ]);
  const servers = [{ url: '/', description: 'Where this page was served from.' }];
  return { ...contract, servers, paths: Object.fromEntries(paths) as DrawnPaths };
}

type DrawnPaths = Record<
  string,
  Record<string, Operation & { readonly 'x-codeSamples': readonly CodeSample[] }>
>;

function toCodeSamples(path: string): CodeSample[] {
  const filled = path.replace('{domain_id}', '$DOMAIN_ID');
  const source = `curl -H "Authorization: Bearer $PLUMBLINE_API_KEY" \\\n  "$PLUMBLINE_BASE_URL${filled}?limit=50"`;
  return [{ lang: 'curl', source }];
}
