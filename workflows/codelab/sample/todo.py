"""A list of things to do: one line each, `x` in front of what is done."""

import sys
from pathlib import Path

FILE = Path("todo.txt")


def add(lines, text):
    return [*lines, f"- {text}"]


def done(lines, number):
    """Marks the line with this number."""
    return ["x" + line[1:] if at == number else line for at, line in enumerate(lines)]


def show(lines):
    return [f"{number} {line}" for number, line in enumerate(lines, 1)]


def main(verb, *words):
    lines = FILE.read_text().splitlines() if FILE.exists() else []
    if verb == "list":
        print("\n".join(show(lines)))
        return
    lines = add(lines, " ".join(words)) if verb == "add" else done(lines, int(words[0]))
    FILE.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
