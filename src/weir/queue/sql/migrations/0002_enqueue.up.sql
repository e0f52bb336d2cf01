-- A tag whose servers wait for news, and the doors through which jobs come.
ALTER TABLE weir_queue.tag ADD COLUMN parked boolean NOT NULL DEFAULT false;

CREATE FUNCTION weir_queue.tag_id(tag_name text) RETURNS integer LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog
AS $$
DECLARE
  known integer;
BEGIN
  SELECT id INTO known FROM weir_queue.tag WHERE name = tag_name;
  IF NOT FOUND THEN
    INSERT INTO weir_queue.tag (name) VALUES (tag_name) ON CONFLICT (name) DO NOTHING;
    SELECT id INTO STRICT known FROM weir_queue.tag WHERE name = tag_name;
  END IF;
  RETURN known;
END
$$;

CREATE FUNCTION weir_queue.tenant_id(tenant_name text) RETURNS integer LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog
AS $$
DECLARE
  known integer;
BEGIN
  SELECT id INTO known FROM weir_queue.tenant WHERE name = tenant_name;
  IF NOT FOUND THEN
    INSERT INTO weir_queue.tenant (name) VALUES (tenant_name) ON CONFLICT (name) DO NOTHING;
    SELECT id INTO STRICT known FROM weir_queue.tenant WHERE name = tenant_name;
  END IF;
  RETURN known;
END
$$;

-- Wakes the servers that wait for jobs of this tag. NOTIFY takes a lock of the whole server when it
-- commits, so nobody is told who is not waiting.
CREATE FUNCTION weir_queue.wake(tag_number integer) RETURNS void LANGUAGE plpgsql VOLATILE
SECURITY DEFINER SET search_path = pg_catalog
AS $$
BEGIN
  PERFORM pg_notify('weir_queue', tag_number::text)
  FROM weir_queue.tag WHERE id = tag_number AND parked;
END
$$;

-- One job, inside of the caller's transaction: it is there if that commits. Where a living job of
-- the tenant has the unique key, that one's id is returned and nothing is added.
-- Priority: the higher, the sooner. run_at: now where it is null or past.
CREATE FUNCTION weir_queue.enqueue(
  kind text, args jsonb DEFAULT '{}', tag text DEFAULT 'default', tenant text DEFAULT 'default',
  priority integer DEFAULT 0, run_at timestamptz DEFAULT NULL, max_attempts integer DEFAULT 3,
  backoff_ms integer DEFAULT 1000, timeout_ms integer DEFAULT NULL, unique_key text DEFAULT NULL,
  labels text[] DEFAULT '{}')
RETURNS uuid LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog
AS $$
#variable_conflict use_column
DECLARE
  job_id uuid := weir_queue.new_id();
  job_tag_id integer := weir_queue.tag_id(enqueue.tag);
  job_tenant_id integer := weir_queue.tenant_id(enqueue.tenant);
  holder uuid;
BEGIN
  IF enqueue.priority NOT BETWEEN -32767 AND 32767 THEN
    RAISE 'priority % is not between -32767 and 32767', enqueue.priority
      USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  INSERT INTO weir_queue.job (id, run_at, tag_id, tenant_id, state, rank, unique_key)
  VALUES (job_id, greatest(enqueue.run_at, clock_timestamp()), job_tag_id, job_tenant_id,
          CASE WHEN enqueue.run_at > clock_timestamp() THEN 'scheduled'
               ELSE 'ready' END::weir_queue.live_state,
          -enqueue.priority, enqueue.unique_key)
  ON CONFLICT (tenant_id, unique_key) WHERE unique_key IS NOT NULL DO NOTHING;
  IF NOT FOUND THEN
    SELECT job.id INTO holder FROM weir_queue.job
    WHERE job.tenant_id = job_tenant_id AND job.unique_key = enqueue.unique_key;
    IF FOUND THEN
      RETURN holder;
    END IF;
    RAISE 'the job with unique key % ended just now; enqueue again', enqueue.unique_key
      USING ERRCODE = 'serialization_failure';
  END IF;
  INSERT INTO weir_queue.job_spec (id, kind, args, max_attempts, backoff_ms, timeout_ms, labels)
  VALUES (job_id, enqueue.kind, enqueue.args, enqueue.max_attempts, enqueue.backoff_ms,
          enqueue.timeout_ms, enqueue.labels);
  IF enqueue.run_at IS NULL OR enqueue.run_at <= clock_timestamp() THEN
    PERFORM weir_queue.wake(job_tag_id);
  END IF;
  RETURN job_id;
END
$$;
