/** Parts of the link that ends messages: bounded before anything is looked up. */
export const isUrlSafe = (text: string): boolean => /^[A-Za-z0-9_-]{1,100}$/.test(text);
