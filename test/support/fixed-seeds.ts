import fc from 'fast-check';

/** CI tries the same random cases each time, a desk new ones: a failure prints its seed. */
if (process.env['CI'] === 'true') fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });
