DROP FUNCTION weir_queue.new_id();
DROP TABLE weir_queue.log, weir_queue.attempt, weir_queue.finished, weir_queue.job,
  weir_queue.job_spec, weir_queue.session, weir_queue.tenant, weir_queue.tag;
DROP TYPE weir_queue.final_state, weir_queue.live_state;
