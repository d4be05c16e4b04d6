// Notifications of servers that MCP itself defines, in any revision. Each has a way of its own through the gateway; whatever is not among
// them is an upstream's own and belongs to the request it came with.

const notices = new Set([
  'notifications/cancelled',
  'notifications/elicitation/complete',
  'notifications/message',
  'notifications/progress',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/subscriptions/acknowledged',
  'notifications/tools/list_changed',
]);

export function isOfProtocol(method: string): boolean {
  return notices.has(method) || method.startsWith('notifications/tasks/') || method.startsWith('rpc.');
}
