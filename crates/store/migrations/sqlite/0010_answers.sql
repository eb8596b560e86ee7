-- Answers to questions of runs that have a subject, and their words for search. The core splits an answer into `words`,
-- in lower case and separated by spaces, so that an ASCII tokenizer finds the same words as the other stores. When a
-- row is erased, its words are also removed from the search index (`secure-delete`).

CREATE TABLE answers (
    place        INTEGER PRIMARY KEY,
    interrupt    BLOB NOT NULL,
    run          BLOB NOT NULL,
    subject      TEXT NOT NULL,
    agent        TEXT,
    question     TEXT NOT NULL,
    answer       TEXT NOT NULL,
    is_data      INTEGER NOT NULL,
    by           TEXT NOT NULL,
    at           INTEGER NOT NULL,
    corrected_at INTEGER,
    reused       INTEGER NOT NULL,
    source       BLOB,
    erased       INTEGER NOT NULL,
    asked        TEXT NOT NULL,
    words        TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX answers_by_interrupt ON answers (interrupt);
CREATE INDEX answers_by_run ON answers (run, interrupt);
CREATE INDEX answers_by_subject ON answers (subject, interrupt);
CREATE INDEX answers_by_question ON answers (asked, subject, interrupt);
CREATE INDEX answers_by_source ON answers (source, interrupt) WHERE source IS NOT NULL;

CREATE VIRTUAL TABLE answer_words USING fts5 (
    words, content = 'answers', content_rowid = 'place', tokenize = 'ascii', detail = 'none', columnsize = 0
);
INSERT INTO answer_words (answer_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER answers_inserted AFTER INSERT ON answers BEGIN
    INSERT INTO answer_words (rowid, words) VALUES (new.place, new.words);
END;
CREATE TRIGGER answers_deleted AFTER DELETE ON answers BEGIN
    INSERT INTO answer_words (answer_words, rowid, words) VALUES ('delete', old.place, old.words);
END;
CREATE TRIGGER answers_changed AFTER UPDATE OF words ON answers BEGIN
    INSERT INTO answer_words (answer_words, rowid, words) VALUES ('delete', old.place, old.words);
    INSERT INTO answer_words (rowid, words) VALUES (new.place, new.words);
END;
