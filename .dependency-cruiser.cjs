/** The modules that never import one another: see ARCHITECTURE.md, Dependency rules. */
const MIDDLE = ['intake', 'alerts', 'notify', 'dns', 'external', 'settings'];

/** What each of them may import. */
const BELOW = ['domain', 'store', 'judging'];

/** A module may import itself, the modules in `others`, and packages. */
const imports = (name, others) => ({
  name: `imports-of-${name}`,
  comment: `src/${name} may import only ${['itself', ...others].join(', ')}.`,
  severity: 'error',
  from: { path: `^src/${name}/` },
  to: {
    path: '^(src|generated|scripts|test)/',
    pathNot: [name, ...others].map((other) =>
      other === 'generated' ? '^generated/' : `^src/${other}/`,
    ),
  },
});

/** The layers of src/intake, outermost first: a layer imports only those below it and files of no layer. */
const LAYERS = ['inputs', 'parser', 'containers', 'report', 'document'];

const layer = (name, index) => ({
  name: `layer-${name}`,
  comment: `src/intake/${name} does not import the layers above it.`,
  severity: 'error',
  from: { path: `^src/intake/${name}/` },
  to: { path: LAYERS.slice(0, index).map((above) => `^src/intake/${above}/`) },
});

/** The folders of src/store, lowest first: one imports only those below it. */
const STORE = [
  ...['migrations', 'engine', 'work', 'lists', 'events', 'documents', 'days', 'reports'],
  ...['accounts', 'people', 'alerts', 'domains', 'notify', 'inbox', 'feed', 'leaving'],
  ...['verify', 'backup', 'move'],
];

const storeFolder = (name, index) => ({
  name: `store-${name}`,
  comment: `src/store/${name} does not import the folders above it.`,
  severity: 'error',
  from: { path: `^src/store/${name}/` },
  to: { path: STORE.slice(index + 1).map((above) => `^src/store/${above}/`) },
});

module.exports = {
  forbidden: [
    imports('domain', []),
    imports('store', ['domain']),
    imports('judging', ['domain', 'store']),
    ...MIDDLE.map((name) =>
      imports(name, ['external', 'notify'].includes(name) ? [...BELOW, 'generated'] : BELOW),
    ),
    imports('demo', ['domain', 'store', 'intake', 'alerts']),
    imports('config', ['domain']),
    imports('metrics', ['config', 'domain', 'store']),
    imports('jobs', ['config', ...BELOW, 'metrics', ...MIDDLE]),
    imports('mcp', ['domain', 'external']),
    imports('http', ['config', ...BELOW, 'metrics', 'mcp', ...MIDDLE]),
    {
      name: 'imports-of-counters',
      comment: 'src/http/counters may import only itself, the configuration and domain.',
      severity: 'error',
      from: { path: '^src/http/counters/' },
      to: {
        path: '^(src|generated|scripts|test)/',
        pathNot: '^src/(http/counters|domain|config)/',
      },
    },
    {
      name: 'only-counters-speak-to-redis',
      severity: 'error',
      from: { pathNot: '^(src/http/counters|scripts|test)/' },
      to: { path: 'node_modules/redis/' },
    },
    ...LAYERS.slice(1).map((name, i) => layer(name, i + 1)),
    ...STORE.slice(0, -1).map(storeFolder),
    {
      name: 'folders-of-the-store',
      comment: 'A new folder of src/store has its place among the others.',
      severity: 'error',
      from: {},
      to: { path: '^src/store/[^/]+/', pathNot: STORE.map((name) => `^src/store/${name}/`) },
    },
    {
      name: 'queries-import-no-migrations',
      comment: 'What a released step says stays as it is: live queries have texts of their own.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(store/(migrations|engine|backup)/|store/tables\\.ts$|commands/serving/)',
      },
      to: { path: '^src/store/migrations/' },
    },
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
      to: { dependencyTypes: ['core'], pathNot: '^(node:)?(crypto|url|zlib|net|util)$' },
    },
    {
      name: 'src-imports-no-scripts-and-no-tests',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts)/' },
    },
    {
      name: 'no-circular-imports',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: '^src/(cli\\.ts$|settings/frame/assets/)|\\.d\\.ts$',
        orphan: true,
      },
      to: {},
    },
    {
      name: 'resolvable',
      comment:
        'What a generated client and a peer of the bench are made of is there only after they were run.',
      severity: 'error',
      from: {
        pathNot:
          '^(test/clients/[^/]+|scripts/(bench/peers|clients/[^/]+)|test/integrations/follower)',
      },
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
