-- Version 1. db/README.md says what each table and column means. Never change this file: add the next number.
CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE session (
  id               INTEGER PRIMARY KEY,
  started          REAL NOT NULL,
  ended            REAL,
  tuning_seconds   REAL NOT NULL DEFAULT 0,
  host             TEXT NOT NULL,
  device           TEXT NOT NULL,
  driver           TEXT NOT NULL,
  fingerprint      TEXT NOT NULL,
  tool_version     TEXT NOT NULL,
  codegen_version  TEXT NOT NULL,
  protocol_version TEXT NOT NULL,
  seed             TEXT NOT NULL,
  settings         TEXT NOT NULL
) STRICT;

CREATE TABLE trial (
  ordinal         INTEGER PRIMARY KEY,
  session         INTEGER NOT NULL REFERENCES session(id),
  config          TEXT NOT NULL,
  config_digest   TEXT NOT NULL,
  artifact_digest TEXT NOT NULL,
  state           TEXT NOT NULL CHECK (state IN ('ok', 'pruned', 'failed')),
  median          REAL,
  count           INTEGER NOT NULL,
  error           TEXT NOT NULL CHECK (error IN ('', 'invalid', 'compile', 'timeout', 'crash', 'wrong', 'device')),
  error_text      TEXT NOT NULL,
  compile_seconds REAL NOT NULL,
  measure_seconds REAL NOT NULL,
  proposer        TEXT NOT NULL,
  steps           TEXT NOT NULL,
  CHECK ((state = 'failed') = (error <> '')),
  CHECK ((state = 'failed') = (median IS NULL))
) STRICT;

CREATE INDEX trial_by_config ON trial(config_digest);

CREATE TABLE sample (
  trial    INTEGER NOT NULL REFERENCES trial(ordinal),
  sequence INTEGER NOT NULL,
  round    INTEGER NOT NULL DEFAULT 0,
  seconds  REAL NOT NULL,
  PRIMARY KEY (trial, sequence)
) STRICT, WITHOUT ROWID;

-- The fastest correct trial of each fingerprint; the earlier one of equals.
CREATE VIEW best AS
SELECT fingerprint, ordinal, config, median FROM (
  SELECT session.fingerprint AS fingerprint, trial.ordinal AS ordinal, trial.config AS config, trial.median AS median,
         row_number() OVER (PARTITION BY session.fingerprint ORDER BY trial.median, trial.ordinal) AS place
  FROM trial JOIN session ON session.id = trial.session
  WHERE trial.state = 'ok')
WHERE place = 1;
