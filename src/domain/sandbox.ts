/* Public values. The key is valid only in a sandbox: the service accepts none with its prefix. */

/** What the paths of the sandbox begin with, on every server. */
export const SANDBOX_PATH = '/sandbox';

/** The published key of every sandbox. */
export const SANDBOX_KEY = 'plb_test_SandboxSandboxSandboxSandbox000AbE4S';

/** The same on every day: a cursor of an earlier one is then no longer good, and not of another account's list. */
export const SANDBOX_ACCOUNT_ID = '9c2f4b1e-7d35-4a86-8e0b-3f6d5a1c7e92';

/** The same on every day, so that the documentation's commands work unchanged. */
export const SANDBOX_DOMAIN_IDS: Readonly<Record<string, string>> = {
  'example.com': '0b54ab8e-6dd1-4b55-a0f5-3f6c1bb4ee0e',
  'shop.example': '7d8f0c53-90c1-4b0a-8f5b-c0a53a1f7c11',
  'waiting.example': 'e3a1f6d2-58b7-4c0e-9d24-6b7f1a9c5e80',
};
