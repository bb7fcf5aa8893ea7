import { randomBytes } from 'node:crypto';
import pg from 'pg';

/** Makes an empty database beside the one that a URL names, and returns its URL. */
export async function createDatabase(server: string): Promise<string> {
  const name = `plumbline_${randomBytes(6).toString('hex')}`;
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return server.replace(/[^/]+$/, name);
}
