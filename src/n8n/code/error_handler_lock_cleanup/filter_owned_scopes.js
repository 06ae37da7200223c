// @n8n-evol-I:primitive
const executionOf = (raw) => {
  try {
    const parsed = typeof raw === 'string' ? JSON.parse(raw) : raw;
    return parsed && parsed.execution_id;
  } catch (error) {
    return undefined; // an older form, which does not say
  }
};

const owned = [];
$input.all().forEach((item, index) => {
  // Which scope it was asked for comes from n8n's item linking: a number in a list proves nothing.
  const asked = $('Prepare Scope List').itemMatching(index).json;
  const execution = executionOf(item.json.LOCK_META);
  const isOwned =
    execution !== undefined && execution !== null && String(execution) === asked.failed_execution_id;
  if (isOwned) owned.push({ json: { ...asked, should_release: true } });
});

if (owned.length > 0) return owned;
const reason = 'no locks owned by failed execution';
return [{ json: { cleaned: false, reason, should_release: false, cleanup_terminal: true } }];
