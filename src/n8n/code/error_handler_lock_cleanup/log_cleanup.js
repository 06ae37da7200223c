// @n8n-evol-I:primitive
const items = $input.all().map((item) => item.json);
const scopes = items.filter((item) => item.should_release === true).map((item) => item.scope);
const nothing = items.find((item) => item.cleanup_terminal === true);

const result = { cleaned: scopes.length > 0, cleaned_count: scopes.length, scopes };
if (nothing) result.reason = nothing.reason;
return [{ json: result }];
