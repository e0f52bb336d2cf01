-- Version 1: runs, what they cost the source, and the files they wrote.
-- 0x77656972, "weir": tells a state file from another program's database.
PRAGMA application_id = 2003134834;

CREATE TABLE export_metrics (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL UNIQUE,
  run_group_id TEXT NOT NULL,
  export_name TEXT NOT NULL,
  run_at TEXT NOT NULL,
  duration_ms INTEGER,
  total_rows INTEGER,
  peak_rss_mb INTEGER,
  status TEXT NOT NULL
    CHECK (status IN ('running', 'success', 'failed', 'interrupted', 'skipped')),
  error_message TEXT,
  error_class TEXT,
  tuning_profile TEXT NOT NULL,
  format TEXT NOT NULL,
  mode TEXT NOT NULL,
  files_produced INTEGER,
  files_committed INTEGER,
  bytes_written INTEGER,
  bytes_read INTEGER,
  retries INTEGER,
  validated INTEGER CHECK (validated IN (0, 1)),
  reconciled INTEGER CHECK (reconciled IN (0, 1)),
  quality_passed INTEGER CHECK (quality_passed IN (0, 1)),
  schema_changed INTEGER CHECK (schema_changed IN (0, 1)),
  source_count INTEGER,
  pg_temp_bytes_delta INTEGER,
  batch_size INTEGER,
  batch_size_memory_mb INTEGER,
  chunk_size INTEGER,
  parallel INTEGER NOT NULL CHECK (parallel >= 1),
  chunk_key TEXT,
  skip_reason TEXT,
  schema_fingerprint TEXT,
  source_type TEXT NOT NULL,
  destination_type TEXT NOT NULL,
  weir_version TEXT NOT NULL,
  longest_chunk_ms INTEGER,
  cursor_min TEXT,
  cursor_max TEXT,
  key_descriptor_json TEXT,
  offending_value TEXT,
  server_context_json TEXT,
  batches INTEGER,
  rows_per_batch INTEGER,
  slept_ms INTEGER,
  source_wait_ms INTEGER,
  decode_ms INTEGER,
  encode_ms INTEGER,
  write_ms INTEGER
);

CREATE UNIQUE INDEX export_metrics_one_running
  ON export_metrics (export_name) WHERE status = 'running';
CREATE INDEX export_metrics_export ON export_metrics (export_name, id DESC);
CREATE INDEX export_metrics_group ON export_metrics (run_group_id);

CREATE TABLE export_harm (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES export_metrics (run_id),
  export_name TEXT NOT NULL,
  metric TEXT NOT NULL,
  delta INTEGER NOT NULL,
  recorded_at TEXT NOT NULL
);

CREATE UNIQUE INDEX export_harm_run ON export_harm (run_id, metric);

CREATE TABLE export_files (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES export_metrics (run_id),
  export_name TEXT NOT NULL,
  path TEXT NOT NULL,
  rows INTEGER NOT NULL CHECK (rows >= 0),
  bytes INTEGER NOT NULL CHECK (bytes >= 0),
  xxh3 TEXT NOT NULL,
  recorded_at TEXT NOT NULL
);

CREATE UNIQUE INDEX export_files_run ON export_files (run_id, path);
CREATE INDEX export_files_export ON export_files (export_name, id DESC);
