const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text can be an id. PostgreSQL answers a comparison of an id with any other text with an error. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
