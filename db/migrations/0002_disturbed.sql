-- Version 2: what was timed while others used the machine.
ALTER TABLE trial ADD COLUMN disturbed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trial ADD COLUMN retaken INTEGER NOT NULL DEFAULT 0;
