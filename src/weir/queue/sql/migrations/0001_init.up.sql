-- The queue's schema. Hot tables are narrow and hold what is alive; all else is kept apart, and
-- nothing cascades. Moments are the database's own: no column takes a client's clock.
CREATE TYPE weir_queue.live_state AS ENUM
  ('ready', 'scheduled', 'buffered', 'running', 'suspended');
CREATE TYPE weir_queue.final_state AS ENUM ('done', 'failed', 'cancelled', 'dead');

-- Names that jobs point at by number.
CREATE TABLE weir_queue.tag (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100),
  paused_at timestamptz
);
CREATE TABLE weir_queue.tenant (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (length(name) BETWEEN 1 AND 100)
);
INSERT INTO weir_queue.tag (name) VALUES ('default');
INSERT INTO weir_queue.tenant (name) VALUES ('default');

-- Servers, and workers, while they live. A session's id is the epoch of the leases that it draws:
-- lease = id * 2^32 + counter, so that none is ever drawn twice.
CREATE TABLE weir_queue.session (
  id bigint GENERATED ALWAYS AS IDENTITY (MAXVALUE 2147483647) PRIMARY KEY,
  role text NOT NULL CHECK (role IN ('server', 'worker')),
  name text NOT NULL,
  version text NOT NULL,
  tags text[] NOT NULL DEFAULT '{}',
  slots integer NOT NULL DEFAULT 0 CHECK (slots >= 0),
  started_at timestamptz NOT NULL DEFAULT now(),
  lease_until timestamptz NOT NULL,
  ended_at timestamptz
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 200);
-- Renewals do not touch it, and stay on their page.
CREATE INDEX session_alive ON weir_queue.session (id) WHERE ended_at IS NULL;
CREATE INDEX session_ended ON weir_queue.session (ended_at) WHERE ended_at IS NOT NULL;

-- What a job is. Written once.
CREATE TABLE weir_queue.job_spec (
  id uuid PRIMARY KEY,
  kind text NOT NULL CHECK (length(kind) BETWEEN 1 AND 100),
  args jsonb NOT NULL DEFAULT '{}',
  max_attempts smallint NOT NULL CHECK (max_attempts BETWEEN 1 AND 1000),
  backoff_ms integer NOT NULL CHECK (backoff_ms >= 0),
  timeout_ms integer CHECK (timeout_ms > 0),
  labels text[] NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now()
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);

-- Where a live job is: one row, from enqueue to its end. Rank: 0 is served before 1.
CREATE TABLE weir_queue.job (
  id uuid NOT NULL,
  run_at timestamptz NOT NULL,
  lease bigint,
  session_id bigint,
  started_at timestamptz,
  cancelled_at timestamptz,
  tag_id integer NOT NULL,
  tenant_id integer NOT NULL,
  state weir_queue.live_state NOT NULL,
  rank smallint NOT NULL,
  attempt smallint NOT NULL DEFAULT 0,
  crashes smallint NOT NULL DEFAULT 0,
  unique_key text CHECK (length(unique_key) BETWEEN 1 AND 500),
  CONSTRAINT job_pkey PRIMARY KEY (id),
  CONSTRAINT job_has_its_shape CHECK (
    CASE state
      WHEN 'running' THEN
        lease IS NOT NULL AND session_id IS NOT NULL AND started_at IS NOT NULL AND attempt > 0
      WHEN 'buffered' THEN
        lease IS NOT NULL AND session_id IS NOT NULL AND started_at IS NULL
        AND cancelled_at IS NULL
      ELSE
        lease IS NULL AND session_id IS NULL AND started_at IS NULL AND cancelled_at IS NULL
    END),
  CONSTRAINT job_counts CHECK (attempt >= 0 AND crashes BETWEEN 0 AND attempt)
) WITH (
  fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0.05,
  vacuum_truncate = off);
CREATE INDEX job_in_line ON weir_queue.job (tag_id, rank, tenant_id, run_at, id)
  WHERE state = 'ready';
CREATE INDEX job_due ON weir_queue.job (run_at) WHERE state = 'scheduled';
CREATE INDEX job_held ON weir_queue.job (session_id) WHERE session_id IS NOT NULL;
-- One living job of a tenant has a key.
CREATE UNIQUE INDEX job_unique_key ON weir_queue.job (tenant_id, unique_key)
  WHERE unique_key IS NOT NULL;
CREATE INDEX job_to_cancel ON weir_queue.job (cancelled_at) WHERE cancelled_at IS NOT NULL;

-- How a job ended. Written once.
CREATE TABLE weir_queue.finished (
  id uuid PRIMARY KEY,
  lease bigint,
  session_id bigint,
  run_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz NOT NULL DEFAULT now(),
  tag_id integer NOT NULL,
  tenant_id integer NOT NULL,
  state weir_queue.final_state NOT NULL,
  attempt smallint NOT NULL,
  crashes smallint NOT NULL,
  result jsonb,
  error text,
  peak_bytes bigint,
  cpu_micros bigint,
  CONSTRAINT finished_has_its_shape CHECK (
    CASE state
      WHEN 'done' THEN error IS NULL AND lease IS NOT NULL AND started_at IS NOT NULL
      WHEN 'failed' THEN error IS NOT NULL AND result IS NULL
      WHEN 'dead' THEN error IS NOT NULL AND result IS NULL AND crashes > 0
      ELSE result IS NULL
    END)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);
CREATE INDEX finished_when ON weir_queue.finished USING brin (finished_at);

-- Attempts that did not end their job: the evidence.
CREATE TABLE weir_queue.attempt (
  id uuid NOT NULL,
  attempt smallint NOT NULL,
  session_id bigint NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL DEFAULT now(),
  how text NOT NULL CHECK (how IN ('failed', 'given back', 'lease ran out')),
  error text,
  PRIMARY KEY (id, attempt)
);

CREATE TABLE weir_queue.log (
  id uuid NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  attempt smallint NOT NULL,
  written_at timestamptz NOT NULL DEFAULT now(),
  level text NOT NULL,
  lines text NOT NULL,
  PRIMARY KEY (id, number)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.1);

-- An id whose order is that of its making: 48 bits of Unix milliseconds, version 7, random bits
-- (RFC 9562, section 5.7). clock_timestamp(): ids of one transaction have an order too.
CREATE FUNCTION weir_queue.new_id() RETURNS uuid LANGUAGE sql VOLATILE PARALLEL SAFE
SET search_path = pg_catalog
AS $$
  SELECT encode(
    set_byte(
      overlay(uuid_send(gen_random_uuid())
        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6),
      6, 112 | (get_byte(uuid_send(gen_random_uuid()), 6) & 15)),
    'hex')::uuid
$$;
