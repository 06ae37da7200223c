// @n8n-evol-I:primitive
const ctx = $('Build Lock Context').first().json;
const answer = Number($input.first().json[ctx.key]);
const count = Number.isFinite(answer) ? answer : 0;

// Held since now, however long the wait for it was.
return [{ json: { acquired: count === 1, count, locked_at: new Date().toISOString() } }];
