// Answers 204 to a delivery that the published verifier accepts, and 400 to any other.
import { createServer } from 'node:http';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.SECRET);
const server = createServer(async (req, res) => {
  const body = Buffer.concat(await req.toArray()).toString();
  try {
    webhook.verify(body, req.headers);
    res.writeHead(204).end();
  } catch {
    res.writeHead(400).end();
  }
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
