// A proposal as a person decides it, and what their yes does: the whole entry as it would be accepted now, which secrets go where, what it
// takes the place of. Does exactly what it showed.
import { AppError } from '../../kernel/errors.ts';
import type { Json, JsonObject } from '../../kernel/json.ts';
import type { Deed } from '../approvals/approvals.ts';
import type { Acceptable, Fleet, FleetControl } from '../fleet/fleet.ts';
import type { UpstreamSpec } from '../fleet/model.ts';
import { alsoGivenTo, changesOf, routesLost, routesOf } from './secret-routes.ts';

export interface DeedDeps {
  readonly fleet: Fleet & FleetControl;
}

/** `proposed`: what the approval holds. Throws `fleet.bad_spec` or `registration.changed` where it cannot be done any more. */
export async function deedOf({ fleet }: DeedDeps, proposed: JsonObject): Promise<Deed> {
  const spec = fleet.draft(proposed['upstream']);
  await fleet.reload();
  const held = fleet.held();
  const what = await fleet.proposal(spec);
  const replaces = held.has(spec.name);
  return {
    shown: {
      // First, and as lines: a person must not have to look for them.
      ...attention(proposed['notes']),
      registers: fleet.facts(what),
      ...secretFacts(spec, held),
      ...(replaces ? replacementFacts(fleet, what, held.get(spec.name)) : {}),
    },
    async carryOut(proof, commit) {
      const tried = await fleet.accept(what, { actor: 'operator', proof }, replaces ? 'replace' : true, commit);
      if (tried.ok) return { ok: true, told: `${spec.name} is registered and runs, with ${tried.tools ?? 0} tools.` };
      return { ok: false, told: `${spec.name} is registered and saved, but does not run: ${tried.error ?? 'nobody knows why'}` };
    },
  };
}

function attention(notes: Json | undefined): JsonObject {
  return Array.isArray(notes) && notes.length > 0 ? { attention: notes.join('\n') } : {};
}

type Held = ReadonlyMap<string, Acceptable | undefined>;

function specsOf(held: Held): readonly UpstreamSpec[] {
  return [...held.values()].flatMap((one) => (one === undefined ? [] : [one.spec]));
}

function secretFacts(spec: UpstreamSpec, held: Held): JsonObject {
  const routes = routesOf(spec).map((route) => {
    const others = alsoGivenTo(route.secret, spec.name, specsOf(held));
    return { ...route, ...(others.length === 0 ? {} : { is_given_to_already: [...others] }) };
  });
  return { secrets_sent: routes.length === 0 ? 'none' : routes };
}

function replacementFacts(fleet: FleetControl, after: Acceptable, before: Acceptable | undefined): JsonObject {
  const goesOn = 'until this is approved the entry of that name goes on as it is';
  if (before === undefined) return { replaces: { entry: 'one of that name which is not understood', meanwhile: goesOn } };
  const lost = routesLost(routesOf(before.spec), routesOf(after.spec));
  return {
    replaces: {
      spec_digest: before.specDigest,
      changes: changesOf(factsOf(fleet, before), factsOf(fleet, after)),
      secrets_no_longer_sent: lost.length === 0 ? 'none' : lost.map((route) => ({ ...route })),
      meanwhile: goesOn,
    },
  };
}

function factsOf(fleet: FleetControl, what: Acceptable): JsonObject {
  const facts = fleet.facts(what);
  const entry = facts['runs'] ?? facts['connects'];
  if (typeof entry === 'object' && entry !== null && !Array.isArray(entry)) return entry as JsonObject;
  throw new AppError('internal', 'registration.changed', 'An entry has no facts.');
}
