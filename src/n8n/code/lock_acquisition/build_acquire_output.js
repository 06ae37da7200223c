// @n8n-evol-I:primitive
const ctx = $('Build Lock Context').first().json;
const attempt = $('Evaluate Acquired').first().json;

return [
  {
    json: {
      acquired: true,
      count: attempt.count,
      scope: ctx.scope,
      lock_id: ctx.lock_id,
      key: ctx.key,
      meta_key: ctx.meta_key,
      workflow_id: ctx.workflow_id,
      workflow_name: ctx.workflow_name,
      execution_id: ctx.executionId,
      locked_at: attempt.locked_at,
    },
  },
];
