import dns2 from 'dns2';
import { onTestFinished } from 'vitest';

/** Mail exchangers and addresses of a name, beside its TXT records. */
interface Records {
  readonly txt?: readonly (readonly string[])[];
  readonly mx?: readonly { readonly priority: number; readonly exchange: string }[];
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  readonly ptr?: readonly string[];
}

/** TXT records of a name, each a list of strings; all of its records; a word for another kind of answer. */
export type Zone = Record<
  string,
  readonly (readonly string[])[] | Records | 'servfail' | 'silent' | 'empty'
>;

const { NXDOMAIN, SERVFAIL } = dns2.Packet.RCODE;

/** A DNS server on loopback that answers from a zone, which a test may change at any time. */
export async function serveDns(zone: Zone): Promise<{ address: string; asked: string[] }> {
  const asked: string[] = [];
  const server = dns2.createUDPServer((request, send) => {
    const { name = '', type } = request.questions[0] ?? {};
    asked.push(name);
    const answer = zone[name.toLowerCase()];
    if (answer === 'silent') return;
    const response = dns2.Packet.createResponseFromRequest(request);
    if (answer === undefined) response.header.rcode = NXDOMAIN;
    else if (answer === 'servfail') response.header.rcode = SERVFAIL;
    else if (answer !== 'empty') {
      const records = 'map' in answer ? { txt: answer } : answer;
      response.answers.push(...toAnswers(name, Number(type), records));
    }
    void send(response);
  });
  await server.listen(0, '127.0.0.1');
  onTestFinished(async () => void (await server.close()));
  const { port } = server.address() as { port: number };
  return { address: `127.0.0.1:${port}`, asked };
}

function toAnswers(
  name: string,
  type: number,
  { txt = [], mx = [], a = [], aaaa = [], ptr = [] }: Records,
) {
  const { TXT, MX, A, AAAA, PTR } = dns2.Packet.TYPE;
  if (type === TXT) return txt.map((strings) => toTxt(name, strings));
  const plain =
    {
      [MX]: mx,
      [A]: a.map((address) => ({ address })),
      [AAAA]: aaaa.map((address) => ({ address })),
      [PTR]: ptr.map((domain) => ({ domain })),
    }[type] ?? [];
  const records = plain.map((data) => ({
    name,
    type,
    class: dns2.Packet.CLASS.IN,
    ttl: 60,
    ...data,
  }));
  return records as unknown as InstanceType<typeof dns2.Packet.Resource>[];
}

function toTxt(name: string, data: readonly string[]) {
  const type = dns2.Packet.TYPE.TXT;
  const answer = { name, type, class: dns2.Packet.CLASS.IN, ttl: 60, data: [...data] };
  // The server encodes plain objects; its types require more.
  return answer as unknown as InstanceType<typeof dns2.Packet.Resource>;
}
