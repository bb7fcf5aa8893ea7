/** The doors between the rooms, as ARCHITECTURE.md draws them. */
const ROOMS = ['intake', 'alerts', 'webhooks', 'external', 'settings'];

/** A room may import itself, `also`, and packages; nothing else of the house. */
const room = (name, also) => ({
  name: `doors-of-${name}`,
  comment: `src/${name} may import only ${['itself', ...also].join(', ')}.`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: {
    path: '^(src|generated|scripts|test)/',
    pathNot: [name, ...also].map((door) =>
      door === 'generated' ? '^generated/' : `^src/${door}/`,
    ),
  },
});

module.exports = {
  forbidden: [
    room('domain', []),
    room('store', ['domain']),
    ...ROOMS.map((name) =>
      room(name, name === 'external' ? ['domain', 'store', 'generated'] : ['domain', 'store']),
    ),
    {
      name: 'only-the-store-speaks-sql',
      severity: 'error',
      from: { pathNot: '^(src/store|scripts|test)/' },
      to: { path: 'node_modules/(kysely|better-sqlite3|pg)/' },
    },
    {
      name: 'domain-does-no-io',
      comment: 'Rules are pure: the clock, the network and the files come in as arguments.',
      severity: 'error',
      from: { path: '^src/domain/' },
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|url|zlib|net)$' },
    },
    {
      name: 'the-product-does-not-need-its-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts)/', pathNot: '^scripts/demo/' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(cli\\.ts$|settings/assets/)', orphan: true },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'What a generated client is made of is there only after `npm run test:client`.',
      severity: 'error',
      from: { pathNot: '^test/clients/[^/]+/' },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};
