"""The findings of compliance cases once more, written from the guide and not from the Rust code. Standard library alone.

Reads a JSON list of {transactions, customers, watchlist, rules, as_of, ascii} (tables as texts, and a transliteration of
letters) from standard input, and writes a list of {findings, risk, gravity, pause}."""
import csv
import datetime
import io
import json
import sys
import unicodedata

from names import Names, block

LETTERS = {"ß": "ss", "ł": "l", "ø": "o", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}


def table(text):
    text = text.removeprefix("\ufeff")
    head = text.splitlines()[0]
    mark = max(";\t,", key=head.count)
    for row in csv.DictReader(io.StringIO(text, newline=""), delimiter=mark, strict=True):
        yield {name.strip().lower(): (cell or "").strip() for name, cell in row.items()}


def lines(text):
    """The line on which each row begins: no cell of these tables holds a line end."""
    return [number for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1) if line.strip()][1:]


def hundredths(text):
    if "," in text and (text.rfind(",") > text.rfind(".")):
        text = text.replace(".", "").replace(",", ".")
    whole, _, part = text.replace(",", "").partition(".")
    return int(whole) * 100 + int((part + "00")[:2])


def seconds(text):
    text = text.replace("Z", "+00:00")
    at = datetime.datetime.fromisoformat(text)
    if at.tzinfo is None:
        at = at.replace(tzinfo=datetime.timezone.utc)
    return int(at.timestamp())


def words(name):
    name = unicodedata.normalize("NFKD", name.lower())
    name = "".join(c for c in name if unicodedata.category(c)[0] != "M").lower()
    name = "".join(LETTERS.get(c, c if c.isalnum() else " ") for c in name)
    return name.split()


def script(name):
    scripts = [block(c) for c in name if c.isalpha()]
    return scripts[0] if scripts else None


class Case:
    def __init__(self, given):
        self.rules = {rule["id"]: rule for rule in given["rules"]["rules"]}
        self.data = given["rules"]
        self.names = Names(self.data["names"], given["ascii"])
        self.customers = list(table(given["customers"]))
        place = {customer["id"]: at for at, customer in enumerate(self.customers, 1)}
        self.watched = list(zip(lines(given["watchlist"]), table(given["watchlist"])))
        self.parties, keys, self.all = [], {}, []
        for line, row in zip(lines(given["transactions"]), table(given["transactions"])):
            written = hundredths(row["amount"])
            party = None
            if row["counterparty"]:
                key = " ".join(sorted(words(row["counterparty"])))
                if key not in keys:
                    keys[key] = len(keys) + 1
                    self.parties.append(row["counterparty"])
                party = keys[key]
            rate = self.data["currencies"][row["currency"]]
            self.all.append({
                "row": line, "at": seconds(row["time"]), "customer": place[row["customer"]], "party": party,
                "direction": row["direction"], "kind": row["kind"], "written": written, "country": row["country"],
                "amount": (written * rate + 500_000) // 1_000_000,
            })
        self.all.sort(key=lambda one: (one["at"], one["row"]))
        self.found = []

    def of(self, customer, wanted=lambda one: True):
        return [one for one in self.all if one["customer"] == customer and wanted(one)]

    def add(self, rule, subject, of, amount=None, confidence=None, detail=""):
        self.found.append({
            "rule": rule, "subject": subject, "rows": sorted(one["row"] for one in of),
            "amount": sum(one["amount"] for one in of) if amount is None else amount,
            "confidence": self.rules[rule]["confidence"] if confidence is None else confidence, "detail": detail,
        })

    def runs(self, rule, wanted, shows):
        reach = self.rules[rule]["hours"] * 3600
        for customer in range(1, len(self.customers) + 1):
            left = self.of(customer, wanted)
            while left:
                run = [one for one in left if one["at"] - left[0]["at"] <= reach]
                amount = shows(run)
                if amount is None:
                    left = left[1:]
                else:
                    self.add(rule, ("customer", customer), run, amount)
                    left = left[len(run):]

    def behaviour(self):
        total = lambda of: sum(one["amount"] for one in of)
        large = self.rules["large_cash"]["amount"] * 100
        countries, kinds = set(self.data["high_risk_countries"]), set(self.data["novel_kinds"])
        for customer in range(1, len(self.customers) + 1):
            cash = self.of(customer, lambda one: one["kind"] == "cash" and one["amount"] >= large)
            if cash:
                self.add("large_cash", ("customer", customer), cash)
            for rule, key, known in (("high_risk_country", "country", countries), ("novel_technique", "kind", kinds)):
                of = self.of(customer, lambda one: one[key] in known)
                if of:
                    self.add(rule, ("customer", customer), of, detail=", ".join(sorted({one[key] for one in of})))
        r = self.rules["structuring"]
        self.runs("structuring", lambda one: one["kind"] == "cash" and r["floor"] * 100 <= one["amount"] < r["amount"] * 100,
                  lambda run: total(run) if len(run) >= r["count"] and total(run) >= r["amount"] * 100 else None)
        o = self.rules["round_amounts"]
        self.runs("round_amounts",
                  lambda one: one["written"] % (o["multiple"] * 100) == 0 and one["amount"] >= o["floor"] * 100,
                  lambda run: total(run) if len(run) >= o["count"] else None)
        v = self.rules["velocity"]
        self.runs("velocity", lambda one: True,
                  lambda run: total(run) if len(run) >= v["count"] and total(run) >= v["amount"] * 100 else None)
        p = self.rules["pass_through"]

        def passes(run):
            came = sum(one["amount"] for one in run if one["direction"] == "in")
            left = sum(one["amount"] for one in run if one["direction"] == "out")
            shows = run[0]["direction"] == "in" and came >= p["amount"] * 100 and left * 100 >= came * p["share"]
            return min(came, left) if shows else None

        self.runs("pass_through", lambda one: True, passes)

    def match(self, rule, listed, name, born):
        best = None
        for line, entry in self.watched:
            if entry["list"] != listed:
                continue
            names = [entry["name"]] + [alias for alias in entry.get("aliases", "").split("|") if alias.strip()]
            for other in names:
                score = self.names.like(other, name)
                if score >= self.rules[rule]["similarity"] / 100 and (best is None or score > best[0]):
                    best = (score, line, entry, script(other) not in (None, script(name)) and script(name) is not None)
        if best is None:
            return None
        percent = int(best[0] * 100 + 1e-9)
        other = bool(born and best[2].get("birth_date") and born != best[2]["birth_date"])
        confidence = min(percent, self.rules[rule]["confidence"])
        detail = f"row {best[1]} of the watch list, {percent} % similar"
        detail += (", in another script" if best[3] else "") + (", different birth date" if other else "")
        return max(confidence - 20 * other, 0), detail

    def lists(self):
        for at, customer in enumerate(self.customers, 1):
            found = self.match("sanctions", "sanctions", customer["name"], customer.get("birth_date"))
            if found:
                self.add("sanctions", ("customer", at), self.of(at), confidence=found[0], detail=found[1])
            if customer["pep"] in ("yes", "true"):
                self.add("pep", ("customer", at), self.of(at), detail="marked as such in the customer table")
                continue
            found = self.match("pep", "pep", customer["name"], customer.get("birth_date"))
            if found:
                self.add("pep", ("customer", at), self.of(at), confidence=found[0], detail=found[1])
        for at, name in enumerate(self.parties, 1):
            found = self.match("sanctions", "sanctions", name, None)
            if found:
                of = [one for one in self.all if one["party"] == at]
                self.add("sanctions", ("party", at), of, confidence=found[0], detail=found[1])

    def examined(self):
        self.behaviour()
        self.lists()
        order = ["large_cash", "structuring", "round_amounts", "velocity", "pass_through", "high_risk_country",
                 "novel_technique", "sanctions", "pep"]
        self.found.sort(key=lambda one: (order.index(one["rule"]), one["subject"][0] == "party", one["subject"][1], one["rows"]))
        met = {}
        for one in self.found:
            met.setdefault(one["subject"], set()).add(one["rule"])
        risk = max([min(100, sum(self.rules[rule]["weight"] for rule in of)) for of in met.values()], default=0)
        pause = []
        for rule in self.data["pause"]:
            of_findings = any(key in rule for key in ("rules", "min_amount", "below_confidence"))
            meets = [at for at, one in enumerate(self.found, 1)
                     if one["rule"] in rule.get("rules", order)
                     and one["amount"] >= rule.get("min_amount", 0) * 100
                     and one["confidence"] < rule.get("below_confidence", 101)] if of_findings else []
            if (meets or not of_findings) and risk >= rule.get("min_risk", 0):
                pause.append([rule["id"], meets])
        if any(one["rule"] == "sanctions" for one in self.found):
            gravity = "critical"
        else:
            gravity = "high" if risk >= 75 else "medium" if pause else "low"
        findings = [{**one, "subject": "%s %d" % one["subject"]} for one in self.found]
        return {"findings": findings, "risk": risk, "gravity": gravity, "pause": pause}


json.dump([Case(given).examined() for given in json.load(sys.stdin)], sys.stdout)
