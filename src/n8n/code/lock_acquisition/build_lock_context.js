// @n8n-evol-I:primitive
const input = $input.first().json;
const longest = 315360000; // ten years

const scope = String(input.scope || 'default');
if (scope.endsWith(':meta')) {
  // The counter of such a scope would be the sidecar of another one.
  throw new Error('scope must not end in "meta" behind a colon');
}
const ttl = typeof input.ttl_seconds === 'number' ? input.ttl_seconds : 60;
if (!Number.isInteger(ttl) || ttl < 1 || ttl > longest) {
  // The Redis node sets no expiry for less than 1, and the lock would stay for ever.
  throw new Error(`ttl_seconds must be a whole number from 1 to ${longest}, not ${ttl}`);
}
const maxWait = typeof input.max_wait_seconds === 'number' ? input.max_wait_seconds : 86400;
if (!(maxWait >= 0 && maxWait <= longest)) {
  throw new Error(`max_wait_seconds must be from 0 to ${longest}, not ${maxWait}`);
}

const now = Date.now();
const executionId = input.execution_id || $execution.id;
// Not every sandbox of n8n has crypto; the execution alone would not tell two of its locks apart.
const freshId = () =>
  typeof crypto !== 'undefined' && typeof crypto.randomUUID === 'function'
    ? crypto.randomUUID()
    : `${executionId}-${now.toString(36)}-${Math.random().toString(36).slice(2)}`;
const key = `n8n-lock-${scope}`;

return [
  {
    json: {
      scope,
      ttl,
      executionId,
      key,
      meta_key: `${key}:meta`,
      lock_id: input.lock_id || freshId(),
      workflow_id: input.workflow_id || 'unknown',
      workflow_name: input.workflow_name || 'unknown',
      wait_till_lock_released: input.wait_till_lock_released !== false,
      max_wait_seconds: maxWait,
      deadline_ms: now + maxWait * 1000,
    },
  },
];
