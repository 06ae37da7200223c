// @n8n-evol-I:primitive
const input = $input.first().json;

const scope = String(input.scope || 'default');
if (scope.endsWith(':meta')) {
  // The counter of such a scope would be the sidecar of another one.
  throw new Error('scope must not end in "meta" behind a colon');
}
const key = `n8n-lock-${scope}`;

return [{ json: { scope, key, meta_key: `${key}:meta`, provided_lock_id: input.lock_id ?? null } }];
