BEGIN;
CREATE SCHEMA IF NOT EXISTS weir_queue;
CREATE TABLE IF NOT EXISTS weir_queue.schema_version (version integer NOT NULL);
INSERT INTO weir_queue.schema_version
SELECT 0 WHERE NOT EXISTS (SELECT FROM weir_queue.schema_version);
COMMIT
