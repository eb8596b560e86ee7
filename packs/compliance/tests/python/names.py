"""The similarity of two names once more, written from the guide and not from the Rust code. Standard library alone.

Letters outside ASCII are transliterated with the map that the caller gives: the table of a library is not in question
here."""
import json
import sys
import unicodedata

LEAST = 0.8
APOSTROPHES = "'’ʼʻ`´‘ʹ"
VOWELS = set("aeiouwy")
UNWRITTEN = set("aeiouvwy")
WEIGHTS = {"plain": 1.0, "han": 1.0, "number": 1.0, "patronymic": 0.5, "initial": 0.4, "beginning": 0.3, "common": 0.2,
           "particle": 0.0}


def block(letter):
    return unicodedata.name(letter, "").split(" ")[0]


def fold(name):
    plain = ""
    for c in unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).lower()):
        if unicodedata.category(c)[0] == "M" or c in APOSTROPHES:
            continue
        if block(c) == "GREEK":
            plain += "".join(x for x in unicodedata.normalize("NFD", c) if unicodedata.category(x)[0] != "M")
        elif c.isalnum() or c == ".":
            plain += c
        else:
            plain += " and " if c == "&" else " "
    found = []
    for written in plain.split():
        parts = [part for part in written.split(".") if part]
        if all(len(part) == 1 for part in parts):
            found += ["".join(parts)] if parts else []
        else:
            found += parts
    return found


def is_abjad(word):
    return any(c.isalpha() and block(c) in ("ARABIC", "HEBREW", "SYRIAC") for c in word)


def is_han(word):
    return any(block(c) == "CJK" for c in word)


def single(text):
    return "".join(c for at, c in enumerate(text) if at == 0 or text[at - 1] != c)


class Word:
    def __init__(self, kind, text, names, written=None):
        self.kind, self.text, self.is_abjad = kind, text[:32], written is not None
        self.key = names.key(self.text)
        self.consonants = names.consonants([names.latin(c) for c in written] if written else [self.text])
        self.spelling = names.spellings.get(written or self.text)
        bare = [self.text[len(a):] for a in names.articles if self.text.startswith(a) and len(self.text) - len(a) >= 4]
        self.bare = names.key(bare[0]) if bare and not written else None

    @property
    def weight(self):
        return WEIGHTS[self.kind]


class Names:
    def __init__(self, tables, ascii_of):
        self.ascii = ascii_of
        self.letters = sorted(tables["letters"].items(), key=lambda pair: -len(pair[0]))
        self.sounds = sorted(tables["sounds"].items(), key=lambda pair: -len(pair[0].lstrip("^")))
        self.alike = {(a, b) for group in tables["alike"] for a in group for b in group}
        one = lambda words: [self.form(fold(word)[0]) for word in words]
        self.particles, self.inner = one(tables["particles"]), one(tables["inner_particles"])
        self.beginnings, self.ends = one(tables["beginnings"]), one(tables["ends"])
        self.articles = sorted(one(tables["articles"]), key=lambda word: -len(word))
        self.patronymics = tables["patronymics"]
        self.spellings = {word: at for at, group in enumerate(tables["spellings"]) for word in one(group)}
        phrase = lambda text: tuple(self.form(word) for word in fold(text))
        self.phrases = {phrase(text): "title" for text in tables["titles"]}
        self.phrases |= {phrase(text): "end title" for text in tables["end_titles"]}
        self.phrases |= {phrase(text): "form" for text in tables["forms"]}
        self.phrases |= {phrase(text): at for at, group in enumerate(tables["common"]) for text in group}
        self.longest = max(map(len, self.phrases), default=1)

    def latin(self, word):
        out, at = "", 0
        while at < len(word):
            group = next((pair for pair in self.letters if word.startswith(pair[0], at)), None)
            text, length = (group[1], len(group[0])) if group else (self.ascii.get(word[at], word[at]), 1)
            out += "".join(c for c in text.lower() if c.isascii() and c.isalnum())
            at += length
        return out

    def form(self, word):
        return word if is_abjad(word) or is_han(word) else self.latin(word)

    def sounded(self, text, with_vowels):
        out, at = "", 0
        while at < len(text):
            for group, sound in self.sounds:
                letters = group.lstrip("^")
                fits = text.startswith(letters, at) and (at == 0 or group == letters)
                if fits and (with_vowels or not VOWELS & set(letters)):
                    out, at = out + sound, at + len(letters)
                    break
            else:
                out, at = out + text[at], at + 1
        return out

    @staticmethod
    def shortened(text):
        text = single(text)
        return (text[:-1] if len(text) > 2 and text.endswith("h") else text)[:32]

    def key(self, text):
        return self.shortened(self.sounded(text, True))

    def consonants(self, pieces):
        sounds = "".join(single(self.sounded(piece, False)) for piece in pieces)
        return self.shortened("".join(c for c in sounds if c not in UNWRITTEN))

    def split(self, name):
        parts = name.replace("，", ",").split(",")
        if len(parts) == 2:
            name = parts[1] + " " + parts[0]
        written = []
        for word in fold(name):
            while word and is_han(word):
                known = [n for n in range(2, min(8, len(word)) + 1) if (word[:n],) in self.phrases]
                length = known[-1] if known else 1
                written.append(word[:length])
                word = word[length:]
                if word and not is_han(word):
                    written += list(word)
                    word = ""
            written += [word] if word else []
        forms, at, pieces = [self.form(word) for word in written], 0, []
        while at < len(forms):
            sizes = (n for n in range(min(self.longest, len(forms) - at), 0, -1) if tuple(forms[at:at + n]) in self.phrases)
            size = next(sizes, None)
            pieces.append((None if size is None else self.phrases[tuple(forms[at:at + size])], written[at:at + (size or 1)]))
            at += size or 1
        before = [at for at, (phrase, _) in enumerate(pieces) if phrase not in ("title", "end title", "form")]
        after = [at for at, (phrase, _) in enumerate(pieces) if phrase not in ("end title", "form")]
        if after:
            pieces = pieces[(before or after[-1:])[0]:after[-1] + 1]
        own = any(phrase is None for phrase, _ in pieces)
        found = []
        for at, (phrase, texts) in enumerate(pieces):
            if isinstance(phrase, int) and own:
                word = Word("common", "", self)
                word.common = phrase
                found.append(word)
            else:
                for text in texts:
                    found += self.words(text, 0 < at < len(pieces) - 1)
        found = found[:16]
        if all(word.kind == "particle" for word in found):
            for word in found:
                word.kind = "plain"
        father = lambda word: word.kind == "plain" and any(
            word.text.endswith(end) and len(word.text) - len(end) >= 3 for end in self.patronymics)
        plain = [word for word in found if word.kind in ("plain", "han")]
        if len(plain) >= 3 and any(word.kind == "plain" and not father(word) for word in found):
            for word in [word for word in found if father(word)]:
                word.kind = "patronymic"
        return found

    def words(self, written, inside):
        if is_abjad(written):
            if written in self.particles:
                return [Word("particle", self.latin(written), self, written)]
            if written in self.beginnings:
                return [Word("beginning", self.beginnings[0], self)]
            bare = [written[len(a):] for a in self.articles if written.startswith(a) and len(written) - len(a) >= 3]
            written = bare[0] if bare else written
            return [Word("plain", self.latin(written), self, written)]
        text = self.latin(written)
        if not text:
            return []
        if text.isdigit():
            return [Word("number", text.lstrip("0") or "0", self)]
        if is_han(written):
            return [Word("han", text, self)]
        if text in self.particles or (inside and text in self.inner):
            return [Word("particle", text, self)]
        if len(text) == 1:
            return [Word("initial", text, self)]
        if text not in self.spellings:
            rests = [text[len(b):] for b in self.beginnings if text.startswith(b) and (text == b or len(text) - len(b) >= 2)]
            if rests:
                rest = min(rests, key=len)
                return [Word("beginning", self.beginnings[0], self)] + ([Word("plain", rest, self)] if rest else [])
            rests = [text[:-len(e)] for e in self.ends[1:] if text.endswith(e) and len(text) - len(e) >= 2]
            if rests:
                return [Word("plain", min(rests, key=len), self), Word("plain", self.ends[0], self)]
        return [Word("plain", text, self)]

    def distance(self, one, other, weak):
        gap = lambda word, at: 0.5 if weak and at > 0 and word[at] in "aeiouhy" else 1.0
        rows = [[0.0] * (len(other) + 1) for _ in range(len(one) + 1)]
        for at in range(len(one)):
            rows[at + 1][0] = rows[at][0] + gap(one, at)
        for at in range(len(other)):
            rows[0][at + 1] = rows[0][at] + gap(other, at)
        for i, a in enumerate(one):
            for j, b in enumerate(other):
                cost = 0.0 if a == b else 0.5 if (a, b) in self.alike else 1.5
                best = min(rows[i][j] + cost, rows[i][j + 1] + gap(one, i), rows[i + 1][j] + gap(other, j))
                if i and j and a == other[j - 1] and one[i - 1] == b:
                    best = min(best, rows[i - 1][j - 1] + 1.0)
                rows[i + 1][j + 1] = best
        return rows[-1][-1]

    def near(self, one, other, weak=True):
        if one == other:
            return 1.0
        if max(len(one), len(other)) <= 4 or not one or not other:
            return 0.0
        away = self.distance(one, other, weak)
        if one[0] != other[0] and (one[0], other[0]) not in self.alike:
            away += 0.5
        like = 1.0 - away / max(len(one), len(other))
        return like if like >= LEAST else 0.0

    def of_words(self, one, other):
        kinds = {one.kind, other.kind}
        if "common" in kinds:
            return float(len(kinds) == 1 and one.common == other.common)
        if one.text == other.text:
            return 1.0
        if kinds & {"number", "particle"}:
            return 0.0
        if "initial" in kinds:
            return 0.9 if one.text[:1] == other.text[:1] or one.key[:1] == other.key[:1] else 0.0
        if one.spelling is not None and other.spelling is not None:
            return 0.98 if one.spelling == other.spelling else 0.0
        if "han" in kinds:
            return 0.0
        if one.is_abjad != other.is_abjad:
            a, b = one.consonants, other.consonants
            if a == b:
                return (0.0, 0.8, 0.9, 0.96)[min(len(a), 3)]
            return self.near(a, b, False) * 0.96
        if one.is_abjad:
            return self.near(one.text, other.text)
        like = self.near(one.key, other.key) * 0.99
        for a, b in ((one, other), (other, one)):
            if a.bare is not None and like < 0.9:
                like = max(like, self.near(a.bare, b.key) * 0.97)
        return like

    def join(self, words, others):
        for other in others:
            if len(other.text) < 4 or other.is_abjad:
                continue
            for at, size in [(at, size) for size in (2, 3) for at in range(len(words) - size + 1)]:
                joined = self.joined(words[at:at + size], other)
                if joined:
                    words = words[:at] + [joined] + words[at + size:]
                    break
        return words

    def joined(self, words, other):
        text = "".join(word.text for word in words)
        letters = lambda text: {c for c in text if c.isalpha()}
        if abs(len(text) - len(other.text)) > 2 or len(letters(text) ^ letters(other.text)) > 6:
            return None
        if any(word.is_abjad or word.kind in ("number", "common") or word.text == other.text for word in words):
            return None
        han = any(word.kind == "han" for word in words)
        joined = Word("han" if han else "plain", text, self)
        if joined.text != other.text and (joined.spelling is None or joined.spelling != other.spelling):
            like = self.near(joined.key, other.key)
            if len(text) < 6 or han or like < 0.87 or any(self.of_words(word, other) >= like for word in words):
                return None
        return joined

    def like(self, one, other):
        a, b = self.split(one), self.split(other)
        a, b = self.join(a, b), self.join(b, a)
        pairs = [(-self.of_words(x, y), abs(i - j), i, j) for i, x in enumerate(a) for j, y in enumerate(b)]
        left_a, left_b, weights, total, distinct = set(range(len(a))), set(range(len(b))), 0.0, 0.0, 0
        for like, _, i, j in sorted(pairs):
            if like < 0 and i in left_a and j in left_b:
                left_a.remove(i)
                left_b.remove(j)
                weight = min(a[i].weight, b[j].weight)
                weights += weight
                total += weight * -like
                distinct += not {a[i].kind, b[j].kind} & {"beginning", "initial", "particle", "common"}
        rest_a, rest_b = (sum(min(words[at].weight, 0.1) if words[at].kind == "initial" else words[at].weight for at in sorted(left)) for words, left in ((a, left_a), (b, left_b)))
        lacks = any(words[at].kind in ("plain", "han", "number", "patronymic")
                    for words, left in ((a, left_a), (b, left_b)) for at in left)
        both = min(rest_a, rest_b)
        below = weights + 1.5 * both + (max(rest_a, rest_b) - both) * (0.6 if distinct < 2 and lacks else 0.1)
        like = total / below if below > 0 else 0.0
        numbers = any(words[at].kind == "number" for words, left in ((a, left_a), (b, left_b)) for at in left)
        return like * 0.8 if numbers else like


if __name__ == "__main__":
    given = json.load(sys.stdin)
    known = Names(given["names"], given["ascii"])
    json.dump([known.like(one, other) for one, other in given["pairs"]], sys.stdout)
