-- Version 3: a trial has its template and the version that made it; table template has the versions that count.
CREATE TABLE template (
  name    TEXT PRIMARY KEY,
  version INTEGER NOT NULL
) STRICT;

-- Until now meta had one list for all trials: 'conv2d_direct=4,conv2d_winograd=2'.
WITH RECURSIVE part(rest, one) AS (
  SELECT value || ',', '' FROM meta WHERE key = 'space_version'
  UNION ALL
  SELECT substr(rest, instr(rest, ',') + 1), substr(rest, 1, instr(rest, ',') - 1) FROM part WHERE rest <> '')
INSERT OR REPLACE INTO template(name, version)
SELECT substr(one, 1, instr(one, '=') - 1), CAST(substr(one, instr(one, '=') + 1) AS INTEGER)
FROM part WHERE instr(one, '=') > 1;
DELETE FROM meta WHERE key = 'space_version';

ALTER TABLE trial ADD COLUMN template TEXT NOT NULL DEFAULT '';
ALTER TABLE trial ADD COLUMN template_version INTEGER NOT NULL DEFAULT 0;
UPDATE trial SET template = coalesce(json_extract(config, '$.template'), '') WHERE json_valid(config);
UPDATE trial SET template_version = coalesce((SELECT version FROM template WHERE name = trial.template), 0);

-- The trials whose template still has the version that made them.
CREATE VIEW current_trial AS
SELECT * FROM trial
WHERE template_version = coalesce((SELECT version FROM template WHERE name = trial.template), 0);

-- The fastest correct one of them for each fingerprint; the earlier one of equals.
DROP VIEW best;
CREATE VIEW best AS
SELECT fingerprint, ordinal, config, median FROM (
  SELECT session.fingerprint AS fingerprint, trial.ordinal AS ordinal, trial.config AS config, trial.median AS median,
         row_number() OVER (PARTITION BY session.fingerprint ORDER BY trial.median, trial.ordinal) AS place
  FROM current_trial AS trial JOIN session ON session.id = trial.session
  WHERE trial.state = 'ok')
WHERE place = 1;
