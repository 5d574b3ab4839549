#!/usr/bin/env python3
"""A second verifier of a published round: the chain, from the description alone, with none of Equipoise's code.

    second_verifier.py FOLDER FINGERPRINT [RECEIPT…]

Prints "verified" and exits 0, or prints the first problem and exits 1. Needs Python 3.11 and `cryptography`.
"""

import base64
import hashlib
import json
import re
import stat
import sys
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

ZERO = "0" * 64
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z\Z")
MAX_FILES = 20


class Forged(Exception):
    """Why a round is not verified."""


def require(condition, problem):
    if not condition:
        raise Forged(problem)


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def unique(pairs):
    require(len({key for key, _ in pairs}) == len(pairs), "a JSON object has a key twice")
    return dict(pairs)


def parse(text, keys=None):
    try:
        value = json.loads(text, object_pairs_hook=unique)
    except ValueError as error:
        raise Forged(f"malformed JSON: {error}") from None
    if keys is not None:
        require(isinstance(value, dict) and set(value) == set(keys), f"expected the keys {keys}")
    return value


def time(text):
    found = TIME.match(text)
    require(found, f"{text!r} is not a time")
    return found[1], (found[2] or "").ljust(9, "0")


class Document:
    """Two lines: JSON, and `KIND DIGEST SIGNATURE`."""

    def __init__(self, text):
        parts = text.split("\n")
        require(len(parts) == 3 and parts[2] == "", "a document does not have two lines")
        self.line, fields = parts[0], parts[1].split(" ")
        require(len(fields) == 3, "a signature line does not have three fields")
        self.kind, self.audience, self.signature = fields
        self.digest = sha256(self.line.encode())

    def read(self, kind, audience, key, keys=None):
        require(self.kind == kind, f"a document is a {self.kind}, not a {kind}")
        require(self.audience == audience, f"a {kind} is for another round")
        message = f"equipoise {kind} {audience}\0{self.line}".encode()
        try:
            public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key, validate=True))
            public.verify(base64.b64decode(self.signature, validate=True), message)
        except (InvalidSignature, ValueError):
            raise Forged(f"the signature of a {kind} does not hold") from None
        return parse(self.line, keys)


class Client:
    def __init__(self):
        self.on_time = self.late = self.latest = None
        self.revoked = self.late_accepted = self.excluded = False
        self.files = 0

    def counting(self):
        if self.revoked or self.excluded:
            return None
        return self.late if self.late_accepted else self.on_time


class Round:
    """The state that the events of a log lead to."""

    def __init__(self, line):
        event = parse(line, ["seq", "at", "previous", "document"])
        document = Document(event["document"])
        self.id, key = document.digest, parse(document.line)["coordinator"]
        self.invitation = document
        self.terms = document.read("invitation", self.id, key)
        require(event["seq"] == 1 and event["previous"] == ZERO, "the first event is not the first")
        require(event["at"] == self.terms["issued_at"], "the first event has another time")
        roster = self.terms["roster"]
        require(1 <= self.terms["minimum"] <= len(roster), "the minimum is impossible")
        self.clients = {name: Client() for name in roster}
        self.lines, self.state, self.statement, self.closed = [line], "open", None, None
        self.handover = None if self.terms["mailbox"] else 1
        self.at, self.purged, self.headers = event["at"], False, set()

    def digest_of(self, seq):
        require(1 <= seq <= len(self.lines), f"the log does not have event {seq}")
        return sha256(self.lines[seq - 1].encode())

    def writer_of(self, seq):
        if self.terms["mailbox"] and (self.handover is None or seq < self.handover):
            return self.terms["mailbox"]["key"]
        return self.terms["coordinator"]

    def receipt(self, document):
        seq = parse(document.line)["seq"]
        receipt = document.read("receipt", self.id, self.writer_of(seq))
        require(receipt["event"] == self.digest_of(seq), f"event {seq} is not the one of its receipt")
        return receipt

    def apply(self, line):
        event = parse(line, ["seq", "at", "previous", "document"])
        require(event["seq"] == len(self.lines) + 1, "an event has a wrong number")
        require(event["previous"] == sha256(self.lines[-1].encode()), "the chain is broken")
        require(time(event["at"]) >= time(self.at), "time goes back")
        document = Document(event["document"])
        {"submission": self.submission, "order": self.order, "statement": self.publish}.get(
            document.kind, self.unknown
        )(document, event)
        self.lines.append(line)
        self.at = event["at"]

    def unknown(self, document, _event):
        raise Forged(f"a {document.kind} is not an event")

    def submission(self, document, event):
        require(self.state == "open", "a file was taken after the round had closed")
        context = parse(parse(document.line)["context"], ["format", "invitation", "client", "sealed_at"])
        name = context["client"]
        require(name in self.clients, f"{name!r} is not on the roster")
        keys = ["context", "length", "sha256", "content_sha256"]
        header = document.read("submission", self.id, self.terms["roster"][name], keys)
        require(context["invitation"] == self.id, "a file was sealed for another round")
        require(header["length"] <= self.terms["max_bytes"], "a file is too large")
        client, sealed_at = self.clients[name], time(context["sealed_at"])
        require(not client.revoked and client.files < MAX_FILES, f"{name} may not deliver any more")
        require(client.latest is None or sealed_at > client.latest, "an older file replaces a newer one")
        client.latest, client.files = sealed_at, client.files + 1
        digests = {"sealed": header["sha256"], "content": header["content_sha256"]}
        if time(event["at"]) > time(self.terms["deadline"]):
            client.late = digests
        else:
            client.on_time = digests

    def order(self, document, event):
        order = document.read("order", self.id, self.terms["coordinator"])
        seq, running = event["seq"], self.state in ("open", "closed")
        match order.get("order"):
            case "revoke":
                client = self.clients.get(order["client"])
                require(running and client and not client.revoked, "a revocation is not possible")
                client.revoked = True
            case "close":
                self.close(order, event)
            case "exclude":
                client = self.clients.get(order["client"])
                require(self.state == "closed" and client and client.counting(), "a bad exclusion")
                client.excluded = True
            case "abort":
                require(running, "an ended round was aborted")
                self.state, self.handover = "aborted", self.handover or seq + 1
            case "purge":
                require(not running and not self.purged, "a running round was purged")
                self.purged = True
            case other:
                raise Forged(f"{other!r} is not an order")

    def close(self, order, event):
        require(self.state == "open", "the round was closed twice")
        for name in order["accept_late"]:
            client = self.clients.get(name)
            require(client and client.late and not client.revoked, f"{name} has no late file")
            client.late_accepted = True
        waiting = [name for name, c in self.clients.items() if not c.revoked and not c.on_time]
        is_over = time(event["at"]) >= time(self.terms["deadline"])
        require(is_over or not waiting, "the round was closed too early")
        self.check_minimum()
        self.state, self.closed = "closed", event["seq"]
        self.handover = self.handover or event["seq"] + (0 if order["from_copy"] else 1)

    def check_minimum(self):
        counting = sum(client.counting() is not None for client in self.clients.values())
        require(counting >= self.terms["minimum"], "too few clients count")

    def publish(self, document, _event):
        keys = ["head", "closed", "files", "submissions"]
        statement = document.read("statement", self.id, self.terms["coordinator"], keys)
        require(self.state == "closed", "the result was published in the wrong state")
        self.check_minimum()
        require(statement["head"] == sha256(self.lines[-1].encode()), "the statement continues another log")
        closed = self.receipt(Document(statement["closed"]))
        require(closed["seq"] == self.closed, "the receipt is not of the event that closed the round")
        counting = {name: c.counting() for name, c in self.clients.items() if c.counting()}
        require(statement["submissions"] == counting, "the statement lists other files than those that count")
        self.state, self.statement = "published", (document, event_text(document), statement)


def event_text(document):
    return f"{document.line}\n{document.kind} {document.audience} {document.signature}\n"


def fingerprint(key):
    text = base64.b32encode(hashlib.sha256(base64.b64decode(key)).digest()[:20]).decode()
    return "-".join(text[i : i + 4] for i in range(0, 32, 4))


def verify(folder, expected, receipts):
    files = {}
    for path in sorted(folder.iterdir()):
        require(stat.S_ISREG(path.lstat().st_mode), f"{path.name} is not a regular file")
        files[path.name] = path.read_bytes()
    for name in ("log.jsonl", "statement", "invitation"):
        require(name in files, f"{name} is missing")
    log = files.pop("log.jsonl").decode()
    require(log.endswith("\n"), "the log is cut off")
    lines = log[:-1].split("\n")
    found = Round(lines[0])
    given = re.sub("[ -]", "", expected).upper()
    require(fingerprint(found.terms["coordinator"]).replace("-", "") == given, "another coordinator")
    for line in lines[1:]:
        found.apply(line)
    require(found.state == "published", f"the round is {found.state}")
    _, text, statement = found.statement
    require(files.pop("statement").decode() == text, "the statement is not the one in the log")
    require(files["invitation"].decode() == event_text(found.invitation), "another invitation")
    require(set(files) == set(statement["files"]), "the files are not those of the statement")
    for name, digests in statement["files"].items():
        require(NAME.match(name), f"{name!r} is not a name")
        content = files[name]
        same = digests == {"length": len(content), "sha256": sha256(content)}
        require(same, f"{name} is not the file that was signed")
    for path in receipts:
        found.receipt(Document(path.read_text()))


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        verify(Path(sys.argv[1]), sys.argv[2], [Path(name) for name in sys.argv[3:]])
    except (Forged, KeyError, TypeError, UnicodeDecodeError, OSError) as error:
        print(ascii(f"not verified: {error}")[1:-1])
        sys.exit(1)
    print("verified")


if __name__ == "__main__":
    main()
