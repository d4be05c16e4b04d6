// The face of the gateway slice. Everything it promises is kernel/dispatch.ts; call.ts is the page that keeps it.
export type { Dispatch as Gateway } from '../../kernel/dispatch.ts';
