-- Answers to questions of runs that have a subject, and their words for search. The core splits an answer into `words`,
-- in lower case and separated by spaces, so that the search does not depend on a dictionary of this database.

CREATE TABLE answers (
    interrupt    text COLLATE "C" PRIMARY KEY,
    run          text COLLATE "C" NOT NULL,
    subject      text COLLATE "C" NOT NULL,
    agent        text,
    question     text NOT NULL,
    answer       text NOT NULL,
    is_data      boolean NOT NULL,
    by           text NOT NULL,
    at           bigint NOT NULL,
    corrected_at bigint,
    reused       boolean NOT NULL,
    source       text COLLATE "C",
    erased       boolean NOT NULL,
    asked        text COLLATE "C" NOT NULL,
    words        text NOT NULL,
    lexemes      tsvector GENERATED ALWAYS AS (array_to_tsvector(string_to_array(words, ' '))) STORED
);
CREATE INDEX answers_by_run ON answers (run, interrupt);
CREATE INDEX answers_by_subject ON answers (subject, interrupt);
CREATE INDEX answers_by_question ON answers (asked, subject, interrupt);
CREATE INDEX answers_by_source ON answers (source, interrupt) WHERE source IS NOT NULL;
CREATE INDEX answers_by_words ON answers USING gin (lexemes);
