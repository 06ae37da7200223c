// @n8n-evol-I:primitive
const lockScopes = {{@env:lockScopes}};

const input = $input.first().json;
const failed = {
  failed_execution_id: String(
    (input.execution && input.execution.id) || input.executionId || $execution.id || 'unknown',
  ),
  failed_workflow_id: (input.workflow && input.workflow.id) || 'unknown',
  failed_workflow_name: (input.workflow && input.workflow.name) || 'unknown',
};
const isScope = (scope) => typeof scope === 'string' && scope !== '';
const scopes = Array.isArray(lockScopes) ? [...new Set(lockScopes.filter(isScope))] : [];

if (scopes.length === 0) {
  const reason =
    'no lockScopes registered in env yaml — add to lockScopes list to enable active cleanup';
  return [{ json: { cleaned: false, reason, ...failed, cleanup_terminal: true } }];
}
return scopes.map((scope) => {
  const key = `n8n-lock-${scope}`;
  return { json: { scope, key, meta_key: `${key}:meta`, ...failed } };
});
