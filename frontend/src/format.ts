const whole = new Intl.NumberFormat("en-GB");

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const number = (value: number): string => whole.format(value);
export const percent = (share: number, digits = 0): string => `${(100 * share).toFixed(digits)}\u00a0%`;
export const perMille = (value: number): string => percent(value / 1000, (value > 0 && value < 10) || (value > 990 && value < 1000) ? 1 : 0);
export const plural = (value: number, one: string, many = `${one}s`): string => `${number(value)} ${value === 1 ? one : many}`;
