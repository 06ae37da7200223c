// @n8n-evol-I:primitive
const ctx = $('Build Lock Context').first().json;
const value = $input.first().json.LOCK_VALUE;
const isGone = value === null || value === undefined || value === '';
const remaining_ms = ctx.deadline_ms - Date.now();

let state = 'keep-waiting';
if (remaining_ms <= 0) state = 'timeout';
else if (isGone) state = 'retry-incr';

return [{ json: { state, remaining_ms } }];
