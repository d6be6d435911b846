// Imported first, for its effect: an empty variable means "not set" to us and to Compose files, but some packages read
// the environment while they are loaded and stumble over it.
for (const [name, value] of Object.entries(process.env)) {
  if (value === '') delete process.env[name];
}

export {};
