// Rules about tokens for git that meet no question of git: those name repositories in small letters (features/git).
import { ownPart, type PolicyFile } from './document.ts';
import { finding, type LintFinding } from './lint-finding.ts';

/** A rule in capitals that allows does too little; a deny in capitals denies nothing at all. */
export function lintGit({ limits, sections }: PolicyFile): LintFinding[] {
  const stated = [...limits.deny, ...sections.flatMap((section) => [...section.limits.deny, ...ownPart(section).rules])];
  return stated.flatMap(({ pattern, place }) =>
    pattern.text.startsWith('git:credential:') && /[A-Z]/.test(pattern.text)
      ? [
          finding(
            'warning',
            place,
            `'${pattern.text}' meets no repository: git is decided about in small letters.`,
            `Write ${pattern.text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())}`,
          ),
        ]
      : [],
  );
}
