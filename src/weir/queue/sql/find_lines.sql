-- $1, $2: per tag that anyone listens to, the gaps between lines known: ($2, $3) before ($4, $5).
-- One line more of each gap where there is one: its first.
WITH gap AS (
  SELECT * FROM unnest($1::integer[], $2::smallint[], $3::integer[], $4::smallint[], $5::integer[])
    AS gap (tag_id, low_rank, low_tenant_id, high_rank, high_tenant_id)
)
SELECT gap.tag_id, line.rank, line.tenant_id
FROM gap CROSS JOIN LATERAL (
  SELECT rank, tenant_id FROM weir_queue.job
  WHERE state = 'ready' AND job.tag_id = gap.tag_id
    AND (job.rank, job.tenant_id) > (gap.low_rank, gap.low_tenant_id)
    AND (job.rank, job.tenant_id) < (gap.high_rank, gap.high_tenant_id)
  ORDER BY rank, tenant_id LIMIT 1) AS line
