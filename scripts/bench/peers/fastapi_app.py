"""
The list of reports, served by FastAPI with sqlite3 and orjson and nothing that it does not need: the key by its
SHA-256, the account's plan, limits per key and address with their headers, parameters, entity tags, a page and its
total from one snapshot, gzip when it is asked for, a request id, security headers and a log line. A page's place
is found as in Plumbline, by counts of days that are kept in memory for the list's version.
"""

import hashlib
import os
import re
import socket
import sqlite3
import time
import zlib

import orjson
import uvicorn
from fastapi import FastAPI, Request, Response

db = sqlite3.connect(
    f"file:{os.environ['BENCH_DATABASE']}?mode=ro", uri=True, isolation_level=None, check_same_thread=False
)
db.execute("pragma cache_size = -16000")
COLUMNS = (
    "id", "reporter_org", "reporter_email", "begin_date", "end_date",
    "record_count", "total_messages", "aligned_messages",
)
HOLDER = """select id, account_id from api_key where sha256 = ? and enabled = 1
  and (select plan from account where account.id = account_id) = 'pro'"""
HEAD = "select reports_total, reports_version from domain where id = ? and account_id = ?"
DAYS = "select day, reports from domain_day where domain_id = ? order by day desc"
ROWS = f"""select {', '.join(COLUMNS)} from report where domain_id = ? and begin_date <= ?
  order by begin_date desc, seq desc limit ? offset ?"""
SECURITY = {
    "content-security-policy": "default-src 'none';frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "origin-agent-cluster": "?1",
    "referrer-policy": "no-referrer",
    "strict-transport-security": "max-age=31536000; includeSubDomains",
    "x-content-type-options": "nosniff",
    "x-dns-prefetch-control": "off",
    "x-download-options": "noopen",
    "x-frame-options": "SAMEORIGIN",
    "x-permitted-cross-domain-policies": "none",
    "x-xss-protection": "0",
    "cache-control": "private, no-cache",
    "vary": "Authorization, Accept-Encoding",
}
LIMIT = 1_000_000_000
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
DIGITS = re.compile(r"[0-9]+")

app = FastAPI(openapi_url=None)
windows: dict[str, list] = {}
log: list[bytes] = []
sink = open(os.devnull, "wb", buffering=0)
request_count = 0


def count(name: str) -> tuple[int, int]:
    now = time.time()
    window = windows.get(name)
    if window is None or window[1] <= now:
        window = windows[name] = [0, now + 60]
    window[0] += 1
    return LIMIT - window[0], int(window[1] - now) + 1


counted = {}


def find_place(domain_id: str, version: str, offset: int):
    if offset == 0:
        return "9999", 0
    days = counted.get(version)
    if days is None:
        days = counted[version] = db.execute(DAYS, (domain_id,)).fetchall()
    passed = 0
    for day, items in days:
        if passed + items > offset:
            return day + "T23:59:59Z", offset - passed
        passed += items


def read_page(domain_id: str, account_id: str, limit: int, offset: int):
    db.execute("begin")
    try:
        total, version = db.execute(HEAD, (domain_id, account_id)).fetchone()
        if offset >= total:
            return total, version, []
        until, skip = find_place(domain_id, version, offset)
        return total, version, db.execute(ROWS, (domain_id, until, limit, skip)).fetchall()
    finally:
        db.execute("commit")


def refuse(status: int, code: str, headers: dict) -> Response:
    body = orjson.dumps({"error": {"code": code, "message": code}})
    return Response(body, status, headers, "application/json")


def to_integer(text: str) -> int:
    return min(int(text), 2**53 - 1) if DIGITS.fullmatch(text) else -1


@app.get("/v1/external/domains/{domain_id}/reports")
async def list_reports(domain_id: str, request: Request) -> Response:
    global request_count
    started = time.perf_counter()
    request_count += 1
    request_id = f"{request_count:x}"
    response = answer(domain_id, request, {**SECURITY, "x-request-id": request_id})
    log.append(
        orjson.dumps(
            {
                "level": 30,
                "time": int(time.time() * 1000),
                "request_id": request_id,
                "method": request.method,
                "path": request.url.path,
                "status": response.status_code,
                "ms": round((time.perf_counter() - started) * 1000),
            }
        )
    )
    if len(log) >= 30:
        sink.write(b"\n".join(log))
        log.clear()
    return response


def answer(domain_id: str, request: Request, headers: dict) -> Response:
    address = count(request.client.host)
    bearer = BEARER.fullmatch(request.headers.get("authorization", ""))
    sha256 = hashlib.sha256(bearer[1].encode()).digest() if bearer else b""
    holder = db.execute(HOLDER, (sha256,)).fetchone()
    if holder is None:
        return refuse(401, "unauthorized", headers)
    key = count(holder[0])
    headers["ratelimit"] = f'"ip";r={address[0]};t={address[1]}, "key";r={key[0]};t={key[1]}'
    headers["ratelimit-policy"] = f'"ip";q={LIMIT};w=60, "key";q={LIMIT};w=60'
    if address[0] < 0 or key[0] < 0:
        return refuse(429, "rate_limited", headers)
    query = request.query_params
    limit, offset = to_integer(query.get("limit", "50")), to_integer(query.get("offset", "0"))
    domain_id = domain_id.lower()
    if not 1 <= limit <= 200 or offset < 0 or not UUID.fullmatch(domain_id):
        return refuse(422, "validation_error", headers)
    head = db.execute(HEAD, (domain_id, holder[1])).fetchone()
    if head is None:
        return refuse(404, "not_found", headers)
    if request.headers.get("if-none-match") == f'W/"{head[1]}"':
        return Response(None, 304, {**headers, "etag": f'W/"{head[1]}"'})
    total, version, rows = read_page(domain_id, holder[1], limit, offset)
    body = orjson.dumps(
        {"data": [dict(zip(COLUMNS, row)) for row in rows], "total": total}, option=orjson.OPT_APPEND_NEWLINE
    )
    headers["etag"] = f'W/"{version}"'
    if "gzip" in request.headers.get("accept-encoding", "") and len(body) >= 1400:
        packer = zlib.compressobj(3, zlib.DEFLATED, 31)
        body = packer.compress(body) + packer.flush()
        headers["content-encoding"] = "gzip"
    return Response(body, 200, headers, "application/json")


if __name__ == "__main__":
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(app, loop="uvloop", http="httptools", access_log=False, log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])
