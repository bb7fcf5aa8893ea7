/** Characters that change how others look: controls, line breaks, text direction (Unicode UAX 9), zero width. */
export const UNSAFE =
  /\u034f|\u17b4|\u17b5|[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;
