// @n8n-evol-I:primitive
const ctx = $('Build Release Context').first().json;
const raw = $input.first().json.LOCK_META;

// What is no JSON object was written by an older primitive, which kept the lock_id alone.
const parse = (text) => {
  try {
    const parsed = typeof text === 'string' ? JSON.parse(text) : text;
    if (parsed !== null && typeof parsed === 'object' && !Array.isArray(parsed)) return parsed;
  } catch (error) {
    // Falls through to the older form.
  }
  return {
    lock_id: String(text),
    workflow_id: 'unknown',
    workflow_name: 'unknown (legacy meta)',
  };
};

const isAbsent = raw === null || raw === undefined || raw === '';
const holder = isAbsent ? {} : parse(raw);

return [
  {
    json: {
      is_match: isAbsent || holder.lock_id === ctx.provided_lock_id,
      already_released: isAbsent,
      scope: ctx.scope,
      provided_lock_id: ctx.provided_lock_id,
      workflow_id: holder.workflow_id ?? 'unknown',
      workflow_name: holder.workflow_name ?? 'unknown',
      execution_id: holder.execution_id ?? 'unknown',
      locked_at: holder.locked_at ?? 'unknown',
    },
  },
];
