// The tool a literal `<upstream>:call:<tool>` capability names, for conditions on the annotations of its accepted pin.
import type { ToolAnnotations } from '../../kernel/operation.ts';
import type { Fleet } from '../fleet/fleet.ts';

/** `{annotations}` of the accepted definition, or nothing when the capability names no accepted tool. */
export function annotationsOf(fleet: Fleet, capability: string): { readonly annotations?: ToolAnnotations } {
  const [, upstream, tool] = /^([^:]+):call:(.+)$/s.exec(capability) ?? [];
  if (upstream === undefined || tool === undefined) return {};
  const resolution = fleet.resolve(upstream, tool);
  return resolution.kind === 'tool' ? { annotations: resolution.tool.annotations } : {};
}
