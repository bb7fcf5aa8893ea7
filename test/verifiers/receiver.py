"""Answers 204 to a delivery that the published verifier accepts, and 400 to any other."""
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook

webhook = Webhook(os.environ["SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            webhook.verify(body, dict(self.headers))
            self.send_response(204)
        except Exception:
            self.send_response(400)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
