/**
 * `npm run bench`: every figure is compared with a baseline measured in the same run, because times on a
 * shared machine vary and ratios do not. `npm run bench -- api`, `-- start`, `-- intake`, `-- hostile`, `-- beside`,
 * `-- doors`, `-- folder`, `-- mail`, `-- metrics`, `-- notify`, `-- pages`, `-- pruning`, `-- storage` or `-- versus` runs one part; `all` leaves out mail, which needs Dovecot
 * and root, doors, folder, metrics, notify, pages, pruning, storage and `-- hostile fairness`, which take long, and versus, which needs another checkout.
 */
import { benchApi } from './api.ts';
import { benchBeside } from './beside/main.ts';
import { benchFairness } from './doors/fairness.ts';
import { benchDoors } from './doors/main.ts';
import { benchFolder } from './folder.ts';
import { benchHostile } from './hostile.ts';
import { benchIntake } from './intake.ts';
import { benchMail } from './mail/main.ts';
import { benchMetrics } from './metrics.ts';
import { benchNotify } from './notify/main.ts';
import { benchPages } from './pages.ts';
import { benchPruning } from './pruning/main.ts';
import { benchStart } from './start.ts';
import { benchStorage } from './storage/main.ts';
import { benchVersus } from './versus/main.ts';

const [part = 'all', ...args] = process.argv.slice(2);
const [kind] = args;
const isWanted = (name: string) => part === 'all' || part === name;
if (isWanted('api')) await benchApi(kind);
if (isWanted('start')) await benchStart(kind);
if (isWanted('intake')) await benchIntake();
const isFairness = part === 'hostile' && kind === 'fairness';
if (isFairness) await benchFairness(args.slice(1));
else if (isWanted('intake') || isWanted('hostile')) await benchHostile(kind);
if (isWanted('beside')) await benchBeside(kind);
if (part === 'folder') await benchFolder(kind === undefined ? undefined : Number(kind));
if (part === 'mail') await benchMail(kind);
if (part === 'metrics') await benchMetrics();
if (part === 'notify') await benchNotify();
if (part === 'pages') await benchPages(args);
if (part === 'pruning') await benchPruning(kind === undefined ? undefined : Number(kind));
if (part === 'doors') await benchDoors(args);
if (part === 'storage') await benchStorage(args);
if (part === 'versus') await benchVersus(args);
